//! What is asked of Kaggle: the archive of a competition, or a byte of it, which tells its size and whether the account
//! may have it. Kaggle answers with a redirect to its storage, which needs no account and never sees one.
//!
//! Nothing here is tried twice; `transfer` does that.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{
    ACCEPT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderMap, RANGE, RETRY_AFTER,
};
use reqwest::{Client, Response, StatusCode, Url};
use tokio::sync::Mutex;

use crate::credentials::Credentials;
use crate::error::DownloadError;

/// Where the service is, unless a mirror is named.
pub const KAGGLE: &str = "https://www.kaggle.com";

/// Bytes a second below which a transfer is as good as silent: a gigabyte would take twelve days.
const LEAST_RATE: u64 = 1 << 10;

/// Of an error's text so much is read and told.
const WORDS: usize = 300;

/// How the service is asked.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Root of its addresses, without `/api/v1`.
    pub base: String,
    /// The account.
    pub credentials: Option<Credentials>,
    /// A transfer that brings nothing for so long is tried again.
    pub silence: Duration,
    /// One that brings fewer bytes a second than this for so long, as well.
    pub least_rate: u64,
    /// Tries in a row without progress.
    pub tries: usize,
}

impl Settings {
    /// Kaggle itself.
    pub fn new(credentials: Option<Credentials>) -> Self {
        Self {
            base: KAGGLE.to_owned(),
            credentials,
            silence: Duration::from_mins(1),
            least_rate: LEAST_RATE,
            tries: 8,
        }
    }
}

/// The service.
#[derive(Clone, Debug)]
pub struct Service {
    pub(crate) http: Client,
    pub(crate) base: Url,
    /// The last access token that a sign-in was exchanged for.
    pub(crate) held_token: Arc<Mutex<Option<String>>>,
    pub(crate) settings: Settings,
}

/// What is known of an archive before it is fetched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// Its size, where the service says it.
    pub bytes: Option<u64>,
}

/// Where the rules of a competition are accepted.
pub fn rules_page(competition: &str) -> String {
    format!("{KAGGLE}/competitions/{competition}/rules")
}

impl Service {
    /// A client of the service.
    pub fn new(settings: Settings) -> Result<Self, DownloadError> {
        // Fails only when a provider is installed already, which serves as well.
        drop(rustls::crypto::ring::default_provider().install_default());
        // Some of Kaggle's own tools take the address with this end.
        let root = settings.base.trim_end_matches('/');
        let root = root.strip_suffix("/api/v1").unwrap_or(root);
        let base = Url::parse(root)
            .map_err(|error| DownloadError::Client(format!("the address `{}`: {error}", settings.base)))?;
        let builder = Client::builder();
        let builder = if is_here(&base) { builder.no_proxy() } else { builder };
        let http = builder
            .connect_timeout(Duration::from_secs(30))
            .user_agent(concat!("podium/", env!("CARGO_PKG_VERSION")))
            .no_gzip()
            .build()
            .map_err(|error| DownloadError::Client(causes(&error)))?;
        Ok(Self { http, base, settings, held_token: Arc::default() })
    }

    /// One try to have the archive from a byte on, to its end or only that byte. A token of a sign-in that the service does
    /// not accept is exchanged for another one.
    pub(crate) async fn open(
        &self,
        competition: &str,
        range: Option<String>,
    ) -> Result<Response, DownloadError> {
        let Some(Credentials::SignIn(sign_in)) = &self.settings.credentials else {
            return self.ask(competition, range, None).await;
        };
        let token = self.access_token(sign_in, None).await?;
        match self.ask(competition, range.clone(), Some(&token)).await {
            Err(DownloadError::Unauthorized { .. }) => {
                let token = self.access_token(sign_in, Some(&token)).await?;
                self.ask(competition, range, Some(&token)).await
            }
            other => other,
        }
    }

    /// Whether what is sent to the service is read by nobody else.
    pub(crate) fn may_have_secrets(&self) -> bool {
        self.base.scheme() == "https" || is_here(&self.base)
    }

    async fn ask(
        &self,
        competition: &str,
        range: Option<String>,
        token: Option<&str>,
    ) -> Result<Response, DownloadError> {
        let mut address = self.base.clone();
        let path = format!(
            "{}/api/v1/competitions/data/download-all/{competition}",
            address.path().trim_end_matches('/')
        );
        address.set_path(&path);
        let mut request = self.http.get(address).header(ACCEPT_ENCODING, "identity");
        if let Some(range) = range {
            request = request.header(RANGE, range);
        }
        if self.may_have_secrets() {
            request = match (&self.settings.credentials, token) {
                (Some(Credentials::Token(token)), _) => request.bearer_auth(token),
                (Some(Credentials::Key { username, key }), _) => request.basic_auth(username, Some(key)),
                (_, Some(token)) => request.bearer_auth(token),
                _ => request,
            };
        }
        let answer = tokio::time::timeout(self.settings.silence, request.send());
        let response = answer
            .await
            .map_err(|_| DownloadError::Silent(self.settings.silence))?
            .map_err(|error| DownloadError::Connection(causes(&error)))?;
        if response.status().is_success() {
            let page = response
                .headers()
                .get(CONTENT_TYPE)
                .is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
            return if page {
                Err(DownloadError::NoArchive { competition: competition.to_owned() })
            } else {
                Ok(response)
            };
        }
        Err(self.refusal(competition, response).await)
    }

    /// What a status that is no success means.
    async fn refusal(&self, competition: &str, response: Response) -> DownloadError {
        let competition = competition.to_owned();
        let status = response.status();
        // The storage behind the redirect knows no account: there an address was too old.
        let elsewhere = response.url().origin() != self.base.origin();
        let wait = header(response.headers(), RETRY_AFTER.as_str()).and_then(|text| text.parse().ok());
        let said = words(response, self.settings.silence).await;
        match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN if elsewhere => {
                DownloadError::Status { status: 503, said, wait: None }
            }
            StatusCode::UNAUTHORIZED if self.settings.credentials.is_none() => DownloadError::NoCredentials,
            StatusCode::UNAUTHORIZED => DownloadError::Unauthorized { said },
            StatusCode::FORBIDDEN => DownloadError::Forbidden { competition, said },
            StatusCode::NOT_FOUND => DownloadError::NotFound { competition },
            _ => DownloadError::Status { status: status.as_u16(), said, wait: wait.map(Duration::from_secs) },
        }
    }
}

/// Whether an address is on this machine.
fn is_here(address: &Url) -> bool {
    let host = address.host_str().unwrap_or_default();
    host == "localhost"
        || host.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// What an answer tells of the whole archive.
pub(crate) struct Told {
    /// The byte that comes first; none where the whole comes.
    pub(crate) from: Option<u64>,
    /// Size of the whole archive.
    pub(crate) bytes: Option<u64>,
    /// Which version it is.
    pub(crate) version: Option<String>,
    /// Its MD5 sum by the storage, in lower-case hexadecimal.
    pub(crate) md5: Option<String>,
}

impl Told {
    pub(crate) fn by(response: &Response) -> Self {
        let headers = response.headers();
        // `bytes 7-99/100`
        let range = header(headers, CONTENT_RANGE.as_str())
            .filter(|_| response.status() == StatusCode::PARTIAL_CONTENT)
            .and_then(|text| text.strip_prefix("bytes ")?.split_once('/'));
        let (from, bytes) = match range {
            Some((span, total)) => {
                (span.split_once('-').and_then(|(from, _)| from.parse().ok()), total.parse().ok())
            }
            None => (None, header(headers, CONTENT_LENGTH.as_str()).and_then(|text| text.parse().ok())),
        };
        let hashes = headers.get_all("x-goog-hash").iter().filter_map(|value| value.to_str().ok());
        let md5 = hashes
            .flat_map(|value| value.split(','))
            .find_map(|one| hexadecimal_of(one.trim().strip_prefix("md5=")?));
        Self { from, bytes, version: header(headers, ETAG.as_str()).map(str::to_owned), md5 }
    }
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// A sum in base 64 as hexadecimal; none where it is no MD5 sum.
fn hexadecimal_of(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(18);
    let (mut bits, mut held) = (0_u32, 0_u32);
    for byte in text.trim_end_matches('=').bytes() {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(digit)) & 0xffff;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.extend(u8::try_from(bits >> held & 0xff));
        }
    }
    (bytes.len() == 16).then(|| crate::part::hexadecimal(&bytes))
}

/// The service's own words: the `message` of a document, or the text itself, on one line.
pub(crate) async fn words(mut response: Response, silence: Duration) -> String {
    let mut body = Vec::new();
    while body.len() < 1 << 16
        && let Ok(Ok(Some(piece))) = tokio::time::timeout(silence, response.chunk()).await
    {
        body.extend_from_slice(&piece);
    }
    let text = String::from_utf8_lossy(&body);
    let message = serde_json::from_str::<serde_json::Value>(&text)
        .ok()
        .and_then(|document| Some(document.get("message")?.as_str()?.to_owned()));
    let text = message.unwrap_or_else(|| {
        if text.trim_start().starts_with('<') { String::new() } else { text.into_owned() }
    });
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(WORDS).collect::<String>().trim_end_matches('.').to_owned()
}

/// What reqwest says, with its causes; addresses are left out, for a signed one is a key.
pub(crate) fn causes(error: &reqwest::Error) -> String {
    let mut text =
        if error.is_connect() { "no connection".to_owned() } else { "the exchange broke off".to_owned() };
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let words = error.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_in_base_64_is_read() {
        assert_eq!(
            hexadecimal_of("1B2M2Y8AsgTpgAmY7PhCfg==").as_deref(),
            Some("d41d8cd98f00b204e9800998ecf8427e")
        );
        assert_eq!(hexadecimal_of("1B2M2Y8AsgTpgAmY7PhC"), None);
        assert_eq!(hexadecimal_of("é"), None);
    }

    #[test]
    fn only_this_machine_is_here() {
        for (address, here) in [
            ("http://127.0.0.1:9", true),
            ("http://localhost", true),
            ("http://[::1]:80", true),
            ("http://127.0.0.1.example", false),
            ("https://www.kaggle.com", false),
        ] {
            assert_eq!(is_here(&Url::parse(address).unwrap()), here, "{address}");
        }
    }
}
