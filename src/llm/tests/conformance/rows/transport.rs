//! Networks: names that do not resolve, ports that refuse, TLS that fails.

use std::io::{Read, Write};
use std::sync::Arc;

use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};

use super::super::super::server::Act;
use super::super::row::{Billed, Expect, Row};
use super::super::speech::Protocol;
use crate::ServiceFailure as Kind;

/// A certificate for 127.0.0.1 that nobody vouches for, and its key: made for these tests, of use to no one else.
const CERTIFICATE: &[u8] = include_bytes!("self_signed.der");
const KEY: &[u8] = include_bytes!("self_signed_key.der");

pub(super) fn rows(_protocol: &dyn Protocol) -> Vec<Row> {
    // No connection, so no request: nothing can have been billed.
    let of_kind = |kind: Kind, name: &str, url: String| {
        let mut row = Row::new(name, Act::Write(Vec::new()), Expect::Ends(kind, Billed::No));
        row.url = Some(url);
        row.with(|settings| settings.max_tries = 1)
    };
    let row = |name: &str, url: String| of_kind(Kind::Network, name, url);
    vec![
        row("a name that does not resolve", "http://podium.invalid/v1".to_owned()),
        row("a refused connection", format!("http://{}/v1", closed())),
        of_kind(
            Kind::Tls,
            "plain bytes behind https",
            format!(
                "https://{}/v1",
                speaks(|stream| {
                    let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
                })
            ),
        ),
        row(
            "a hang-up during the handshake",
            format!(
                "https://{}/v1",
                speaks(|stream| {
                    let _ = stream.read(&mut [0; 64]);
                })
            ),
        ),
        of_kind(
            Kind::Certificate,
            "a certificate that nobody vouches for",
            format!("https://{}/v1", speaks(handshake)),
        ),
    ]
}

/// An address that is taken and on which nobody listens.
fn closed() -> std::net::SocketAddr {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = socket.local_addr().unwrap();
    // Kept for the life of the process, lest another test gets it.
    std::mem::forget(socket);
    address
}

/// The address of a server that does this with its one connection.
fn speaks(act: impl FnOnce(&mut std::net::TcpStream) + Send + 'static) -> std::net::SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        if let Ok((mut stream, _)) = listener.accept() {
            act(&mut stream);
        }
    });
    address
}

fn handshake(stream: &mut std::net::TcpStream) {
    let key = PrivatePkcs8KeyDer::from(KEY).into();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config =
        builder.with_no_client_auth().with_single_cert(vec![CertificateDer::from(CERTIFICATE)], key).unwrap();
    let mut connection = rustls::ServerConnection::new(Arc::new(config)).unwrap();
    let mut tls = rustls::Stream::new(&mut connection, stream);
    // The client hangs up here, before a byte of the request.
    assert!(!matches!(tls.read(&mut [0; 64]), Ok(1..)), "the client trusts a stranger");
}
