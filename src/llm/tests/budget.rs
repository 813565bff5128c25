//! A budget under load: fifty workers, a service that cuts streams and bills what it made, and a cap that holds.

use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use podium_types::money::Usd;
use podium_types::rng::Rng;
use podium_types::usage::Usage;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

use super::server::{CHUNKED, STREAM, chunk, delta, read_request, usage};
use super::setup::{CATALOG, KEY, request};
use crate::{
    Call, Catalog, Client, Denied, Error, Ledger, ModelName, NoObserver, Settings, Settled, WorstCase,
};

const WORKERS: usize = 50;

/// Dollars per million tokens, as the catalog of these tests has them.
const PRICES: (u64, u64) = (1, 10);

/// What the service bills, in millionths of a dollar.
#[derive(Clone)]
struct Bill(Arc<Mutex<(u64, Rng)>>);

impl Bill {
    /// Bills prompt and answer before a byte of the answer leaves, and says what becomes of it: how many tokens are
    /// shown, and the fault.
    fn make(&self, body: &Value) -> (u64, u64, usize) {
        let mut state = self.0.lock().unwrap();
        let words = |message: &Value| message["content"].as_str().unwrap().split_whitespace().count() as u64;
        let prompt: u64 = body["messages"].as_array().unwrap().iter().map(words).sum();
        let limit = usize::try_from(body["max_tokens"].as_u64().unwrap()).unwrap();
        let (made, fault) = (state.1.below(limit + 1) as u64, state.1.below(8));
        // A refusal and an error of the service are free; a cut answer is billed to its end, which nobody saw.
        if !matches!(fault, 0 | 1) {
            state.0 += prompt * PRICES.0 + made * PRICES.1;
        }
        (prompt, made, fault)
    }
}

async fn serve(mut stream: TcpStream, bill: Bill) {
    let Some((_, body)) = read_request(&mut stream).await else { return };
    let (prompt, made, fault) = bill.make(&body);
    let text = delta(&json!({"content": "a word "}), None);
    let bytes = match fault {
        0 => b"HTTP/1.1 429 X\r\ncontent-length: 0\r\nretry-after-ms: 1\r\n\r\n".to_vec(),
        1 => b"HTTP/1.1 500 X\r\ncontent-length: 0\r\n\r\n".to_vec(),
        2 => Vec::new(),
        3 => b"HTTP/1.1 504 X\r\ncontent-length: 0\r\n\r\n".to_vec(),
        4 | 5 => [CHUNKED.as_bytes(), &chunk(text.as_bytes())].concat(),
        _ => [STREAM, &text, &delta(&json!({}), Some("stop")), &usage(prompt, made)].concat().into_bytes(),
    };
    let _ = stream.write_all(&bytes).await;
    let _ = stream.shutdown().await;
}

/// One account for all chats.
struct Account {
    cap: Usd,
    /// Charged, and set aside.
    state: Mutex<(Usd, Usd)>,
}

/// One chat's part of it.
struct Part<'a> {
    account: &'a Account,
    reserved: Mutex<Option<WorstCase>>,
}

impl Ledger for Part<'_> {
    fn reserve(&self, _attempt: u32, worst: WorstCase) -> BoxFuture<'_, Result<(), Denied>> {
        let mut state = self.account.state.lock().unwrap();
        let cost = worst.cost.unwrap();
        if state.0 + state.1 + cost > self.account.cap {
            return Box::pin(std::future::ready(Err(Denied { reason: "the cap is reached".to_owned() })));
        }
        state.1 += cost;
        assert_eq!(self.reserved.lock().unwrap().replace(worst), None, "the try before was not settled");
        Box::pin(std::future::ready(Ok(())))
    }

    fn settle(&self, _attempt: u32, settled: Settled) -> BoxFuture<'_, ()> {
        let worst = self.reserved.lock().unwrap().take().expect("a reserved try");
        let mut state = self.account.state.lock().unwrap();
        state.1 = state.1 - worst.cost.unwrap();
        state.0 += match settled {
            Settled::NotBilled => Usd::ZERO,
            Settled::Unknown => worst.cost.unwrap(),
            Settled::Used(Usage { cost, .. }) => cost.unwrap(),
        };
        Box::pin(std::future::ready(()))
    }
}

#[tokio::test]
async fn a_budget_is_never_exceeded_by_fifty_workers_and_cut_streams() {
    for seed in 0..4 {
        let bill = Bill(Arc::new(Mutex::new((0, Rng::new(seed)))));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let billing = bill.clone();
        let server = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(stream, billing.clone()));
            }
        });
        let catalog = Catalog::parse(CATALOG).unwrap();
        let variables = [("OPENAI_BASE_URL".to_owned(), url), ("OPENAI_API_KEY".to_owned(), KEY.to_owned())];
        let settings = Settings {
            first_delay: std::time::Duration::from_millis(1),
            max_tries: 1000,
            ..Settings::new(&catalog, &variables.into())
        };
        let client = Client::new(catalog, settings, None);
        let account = Account { cap: Usd::from_dollars(0.2), state: Mutex::default() };
        let model: ModelName = "openai/priced".parse().unwrap();
        let worker = async || {
            let mut answers = 0;
            loop {
                let part = Part { account: &account, reserved: Mutex::default() };
                let request = request();
                let call = Call {
                    model: &model,
                    request: &request,
                    ledger: &part,
                    observer: &NoObserver,
                    purpose: "",
                };
                match client.chat(&call).await {
                    Ok(_) => answers += 1,
                    Err(Error::Denied(_)) => return answers,
                    Err(error) => panic!("{error}"),
                }
            }
        };
        let answers: u32 = futures_util::future::join_all((0..WORKERS).map(|_| worker())).await.iter().sum();
        server.abort();
        let billed = Usd::from_nanos(i64::try_from(bill.0.lock().unwrap().0 * 1_000).unwrap());
        let (charged, reserved) = *account.state.lock().unwrap();
        assert_eq!(reserved, Usd::ZERO);
        assert!(
            billed <= charged && charged <= account.cap,
            "billed {billed}, charged {charged}, seed {seed}"
        );
        // It is used too: the next try at its worst would have passed it.
        let worst = client.worst_case(&model, &request()).cost.unwrap();
        assert!(charged + worst > account.cap && answers > 50, "charged {charged}, {answers} answers");
    }
}
