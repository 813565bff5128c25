//! Connections that serve several requests, and end between two of them.

use super::super::server::{Act, CHUNKED, Server, Step, chunk};
use super::super::setup::{Record, Witness};
use super::row::{good, good_events};
use super::run::client;
use super::speech::{PROTOCOLS, Protocol};
use crate::{Call, Client, Settled};

/// The good answer on a connection that stays open.
fn kept(protocol: &dyn Protocol) -> Vec<u8> {
    [CHUNKED.as_bytes(), &chunk(good_events(protocol).as_bytes()), b"0\r\n\r\n"].concat()
}

/// How the tries of a chat were settled.
async fn settled(client: &Client, server: &Server, protocol: &dyn Protocol) -> Vec<Settled> {
    let record = Record::default();
    let request = super::super::setup::request();
    let model = protocol.model().parse().unwrap();
    let ledger = Witness { record: &record, server };
    let call = Call { model: &model, request: &request, ledger: &ledger, observer: &record, purpose: "test" };
    let answer = client.chat(&call).await.unwrap();
    assert_eq!(answer.content, "fine", "{}", protocol.name());
    let settled = record.settled.lock().unwrap();
    settled.iter().map(|(_, settled)| *settled).collect()
}

/// A server ends a connection as it likes. Before a request went out on it, that costs nothing and no try.
#[tokio::test]
async fn a_connection_that_the_server_ended_is_not_used_again() {
    for protocol in PROTOCOLS {
        let acts = vec![Act::Steps(vec![Step::Write(kept(protocol))]), good(protocol)];
        let server = Server::start(acts).await;
        let client = client(&server.url, |_| ());
        for _ in 0..3 {
            let settled = settled(&client, &server, protocol).await;
            assert!(matches!(settled.as_slice(), [Settled::Used(_)]), "{}: {settled:?}", protocol.name());
            server.closed().await;
        }
    }
}

/// One that ends with the request on its way may have been read: the try is charged once, as unknown, and the next
/// one goes out on a connection of its own. Nothing below the client sends a request twice.
#[tokio::test]
async fn a_request_on_a_dying_connection_is_one_try() {
    for protocol in PROTOCOLS {
        let stays = Act::Steps(vec![Step::Write(kept(protocol)), Step::Next]);
        let acts = vec![stays.clone(), Act::Write(Vec::new()), good(protocol)];
        let server = Server::start(acts).await;
        let client = client(&server.url, |_| ());
        assert!(matches!(settled(&client, &server, protocol).await.as_slice(), [Settled::Used(_)]));
        let second = settled(&client, &server, protocol).await;
        assert!(
            matches!(second.as_slice(), [Settled::Unknown, Settled::Used(_)]),
            "{}: {second:?}",
            protocol.name()
        );
        assert_eq!((server.heads().len(), server.connections()), (3, 2), "{}", protocol.name());
    }
}

/// The rest of an answer that was not waited for does not run into the next one.
#[tokio::test]
async fn what_follows_an_answer_does_not_reach_the_next() {
    for protocol in PROTOCOLS {
        let junk = chunk(b"data: {\"choices\": [{\"delta\": {\"content\": \"junk\"}}]}\n\n");
        let body =
            [CHUNKED.as_bytes(), &chunk(good_events(protocol).as_bytes()), &junk, b"0\r\n\r\n"].concat();
        let server = Server::start(vec![Act::Steps(vec![Step::Write(body), Step::Next])]).await;
        let client = client(&server.url, |_| ());
        for _ in 0..3 {
            let settled = settled(&client, &server, protocol).await;
            assert!(matches!(settled.as_slice(), [Settled::Used(_)]), "{}: {settled:?}", protocol.name());
        }
    }
}
