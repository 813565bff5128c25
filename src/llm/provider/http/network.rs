//! Why no server answered, in one sentence: a name that is not known, a refused connection, a proxy, a certificate,
//! a server that speaks no TLS. The transport tells it in its own words, three causes deep.

use std::error::Error;
use std::io;

use super::exchange::causes;
use crate::error::ServiceFailure;

/// What kept `error`'s request from being answered, and what that is to the client.
pub(super) fn told(error: reqwest::Error) -> (ServiceFailure, String) {
    let place = error.url().map(place).unwrap_or_default();
    let error = error.without_url();
    let words = causes(&error);
    if let Some(fault) = chain(&error).find_map(tls) {
        return of_tls(&fault, &place);
    }
    if words.contains("tls handshake eof") {
        return (
            ServiceFailure::Network,
            format!("{place} closed the connection where TLS should have begun"),
        );
    }
    if words.contains("tunnel error: proxy authorization required") {
        return (ServiceFailure::Proxy, format!("the proxy before {place} wants a name and a password"));
    }
    if words.contains("tunnel error: unsuccessful") {
        return (ServiceFailure::Proxy, format!("the proxy refuses to connect to {place}"));
    }
    if words.contains("tunnel error") {
        let last = chain(&error).last().map(ToString::to_string).unwrap_or_default();
        return (ServiceFailure::Proxy, format!("no way through the proxy to {place}: {last}"));
    }
    if words.contains("dns error") {
        let last = chain(&error).last().map(ToString::to_string).unwrap_or_default();
        return (ServiceFailure::Network, format!("no address is known for {place} (DNS: {last})"));
    }
    let refused = |error: &(dyn Error + 'static)| {
        error
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
    };
    if chain(&error).any(refused) {
        return (ServiceFailure::Network, format!("no connection to {place}: connection refused"));
    }
    if error.is_connect() && error.is_timeout() {
        return (ServiceFailure::Network, format!("no connection to {place} within the connect time-out"));
    }
    (ServiceFailure::Network, words)
}

/// Host and port of an address, without what else may be in it.
fn place(url: &reqwest::Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port_or_known_default().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// An error and its causes.
fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error: &&'a (dyn Error + 'static)| error.source())
}

/// The TLS error that `error` is, or holds: an [`io::Error`] hides it from its chain of causes.
fn tls(error: &(dyn Error + 'static)) -> Option<rustls::Error> {
    if let Some(fault) = error.downcast_ref::<rustls::Error>() {
        return Some(fault.clone());
    }
    tls(error.downcast_ref::<io::Error>()?.get_ref()?)
}

fn of_tls(fault: &rustls::Error, place: &str) -> (ServiceFailure, String) {
    use rustls::CertificateError as Certificate;
    let why = match fault {
        rustls::Error::InvalidCertificate(certificate) => match certificate {
            Certificate::UnknownIssuer => "no authority that this machine trusts has signed it".to_owned(),
            Certificate::Expired | Certificate::ExpiredContext { .. } => "it has expired".to_owned(),
            Certificate::NotValidYet | Certificate::NotValidYetContext { .. } => {
                "it is not valid yet, by this machine's clock".to_owned()
            }
            Certificate::NotValidForName | Certificate::NotValidForNameContext { .. } => {
                "it is for another name".to_owned()
            }
            other => other.to_string(),
        },
        rustls::Error::InvalidMessage(_) => {
            return (ServiceFailure::Tls, format!("{place} answers https with something that is no TLS"));
        }
        // It may pass: a balancer whose servers start anew refuses for a moment.
        other => return (ServiceFailure::Network, format!("TLS with {place} failed: {other}")),
    };
    (ServiceFailure::Certificate, format!("the certificate of {place} is not trusted: {why}"))
}
