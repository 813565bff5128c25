//! The network between the program and a service: proxies and their exceptions, certificates, and everything that
//! keeps a server from being reached. Each is one sentence with its cause and a hint that fits.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::service::{KEY, Service};
use crate::support::{Finished, Place, Podium, need};

/// What a proxy does with a request.
#[derive(Clone, Copy)]
enum Act {
    /// Hands it on to this port.
    Forward(u16),
    /// Answers with this status.
    Refuse(&'static str),
}

/// A proxy on a port of its own, and the first lines of what it was sent. It lives as long as the test's process.
fn proxy(act: Act) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let lines = Arc::clone(&seen);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            serve(stream, act, &lines);
        }
    });
    (url, seen)
}

fn serve(mut client: TcpStream, act: Act, lines: &Mutex<Vec<String>>) {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && client.read_exact(&mut byte).is_ok() {
        head.push(byte[0]);
    }
    let text = String::from_utf8_lossy(&head).into_owned();
    lines.lock().unwrap().push(text.lines().next().unwrap_or_default().to_owned());
    match act {
        Act::Refuse(status) => {
            let _ = write!(client, "HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        }
        Act::Forward(port) => {
            let mut server = TcpStream::connect(("127.0.0.1", port)).unwrap();
            if text.starts_with("CONNECT ") {
                let _ = client.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            } else {
                server.write_all(&head).unwrap();
            }
            let (mut from_client, mut to_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            std::thread::spawn(move || std::io::copy(&mut from_client, &mut to_server));
            std::thread::spawn(move || std::io::copy(&mut server, &mut client));
        }
    }
}

/// One try of a chat with a service at `url`.
fn chat(place: &Place, url: &str) -> Podium {
    let podium = Podium::new(place).args(["model", "chat", "-m", "openai/x", "--tries", "1", "hello"]);
    podium.env("OPENAI_BASE_URL", url).env("OPENAI_API_KEY", KEY)
}

/// The error and the hint of a failed one.
#[track_caller]
fn told(ended: Finished) -> [String; 2] {
    let ended = ended.expect(5);
    let line = |head: &str| {
        let line = ended.stderr.lines().find_map(|line| line.strip_prefix(head));
        line.unwrap_or_else(|| panic!("no {head}: {}", ended.stderr)).trim().to_owned()
    };
    assert!(!ended.stderr.contains(KEY), "{}", ended.stderr);
    [line("error:"), line("hint:")]
}

fn port(url: &str) -> u16 {
    url.trim_end_matches("/v1").rsplit(':').next().unwrap().parse().unwrap()
}

/// The port of a server that has gone.
fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn a_proxy_is_used_and_its_exceptions_are_kept() {
    let service = Service::start(&json!({"content": "Hi."}));
    let place = Place::new();
    let (url, seen) = proxy(Act::Forward(port(service.url())));
    let through = chat(&place, service.url()).env("HTTP_PROXY", &url).output().expect(0);
    assert_eq!(through.stdout, "Hi.\n");
    let line = format!("POST {}/chat/completions HTTP/1.1", service.url());
    assert_eq!(*seen.lock().unwrap(), [line.as_str()]);
    for exception in ["127.0.0.1", "other.example,127.0.0.0/8", "*"] {
        let past = chat(&place, service.url()).env("HTTP_PROXY", &url).env("NO_PROXY", exception);
        past.output().expect(0);
    }
    assert_eq!(seen.lock().unwrap().len(), 1, "NO_PROXY keeps the rest away from it");
    assert_eq!(service.requests().len(), 4);
}

#[test]
fn a_proxy_that_refuses_is_told_from_a_service_that_does() {
    let place = Place::new();
    let hint = "check HTTPS_PROXY and HTTP_PROXY; hosts of NO_PROXY are reached without a proxy";
    for (status, problem) in [
        ("403 Forbidden", "the proxy refuses to connect to api.example.org:443"),
        (
            "407 Proxy Authentication Required",
            "the proxy before api.example.org:443 wants a name and a password",
        ),
    ] {
        let (url, seen) = proxy(Act::Refuse(status));
        let refused = chat(&place, "https://api.example.org/v1").env("HTTPS_PROXY", &url).output();
        let error = format!("model service `openai` failed (proxy) after 1 try: {problem}");
        assert_eq!(told(refused), [error, hint.to_owned()]);
        assert_eq!(*seen.lock().unwrap(), ["CONNECT api.example.org:443 HTTP/1.1"]);
    }
    let (url, _) = proxy(Act::Refuse("407 Proxy Authentication Required"));
    let refused = chat(&place, "http://api.example.org/v1").env("HTTP_PROXY", &url).output();
    let error = "model service `openai` failed (proxy) after 1 try: HTTP 407";
    assert_eq!(told(refused), [error.to_owned(), hint.to_owned()]);
    let gone = format!("http://127.0.0.1:{}", closed_port());
    let nobody = chat(&place, "https://api.example.org/v1").env("HTTPS_PROXY", &gone).output();
    let error = "model service `openai` failed (proxy) after 1 try: no way through the proxy to api.example.org:443: \
                 Connection refused (os error 111)";
    assert_eq!(told(nobody), [error.to_owned(), hint.to_owned()]);
}

#[test]
fn a_server_that_is_not_there_is_one_sentence() {
    let place = Place::new();
    let hint = "check the base URL of `openai`, the network and the proxy settings (HTTPS_PROXY, HTTP_PROXY, NO_PROXY)";
    let port = closed_port();
    let refused = chat(&place, &format!("http://127.0.0.1:{port}/v1")).output();
    let error = format!(
        "model service `openai` failed (network) after 1 try: no connection to 127.0.0.1:{port}: connection refused"
    );
    assert_eq!(told(refused), [error, hint.to_owned()]);
    let [error, said] = told(chat(&place, "http://no-such-host.invalid/v1").output());
    let head = "model service `openai` failed (network) after 1 try: no address is known for no-such-host.invalid:80 (DNS: ";
    assert!(error.starts_with(head), "{error}");
    assert_eq!(said, hint);
}

#[test]
fn plain_text_behind_https_is_told() {
    let service = Service::start(&json!({"content": "Hi."}));
    let place = Place::new();
    let port = port(service.url());
    let [error, hint] = told(chat(&place, &format!("https://127.0.0.1:{port}/v1")).output());
    assert_eq!(
        error,
        format!(
            "model service `openai` failed (no TLS) after 1 try: 127.0.0.1:{port} answers https with something that is \
             no TLS"
        )
    );
    assert_eq!(hint, "check the base URL of `openai`: a server without TLS is reached by http, not https");
}

/// An authority of the test's own, and a certificate and key for 127.0.0.1 that it has signed.
fn authority(place: &Place) -> Option<[PathBuf; 3]> {
    place.write("tls/ext", "subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n");
    let folder = place.path().join("tls");
    for line in [
        "req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 30 -subj /CN=test-authority",
        "req -newkey rsa:2048 -nodes -keyout key.pem -out leaf.csr -subj /CN=test-server",
        "x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile ext -out cert.pem",
    ] {
        let made = Command::new("openssl").args(line.split(' ')).current_dir(&folder).output().ok()?;
        assert!(made.status.success(), "openssl {line}: {}", String::from_utf8_lossy(&made.stderr));
    }
    Some(["ca.pem", "cert.pem", "key.pem"].map(|name| folder.join(name)))
}

#[test]
fn an_authority_of_ones_own_is_trusted_where_it_is_named() {
    let place = Place::new();
    let Some([authority, certificate, key]) = authority(&place) else {
        return need::skip("an_authority_of_ones_own_is_trusted_where_it_is_named", "there is no openssl");
    };
    let service = Service::start(&json!({"content": "Hi.", "tls": [certificate, key]}));
    let url = service.url().replace("http://", "https://");
    let port = port(&url);
    assert_eq!(
        told(chat(&place, &url).output()),
        [
            format!(
                "model service `openai` failed (certificate) after 1 try: the certificate of 127.0.0.1:{port} is not \
                 trusted: no authority that this machine trusts has signed it"
            ),
            "for an authority of your own set SSL_CERT_FILE to a file with its certificate (PEM) beside those you trust"
                .to_owned(),
        ]
    );
    assert_eq!(service.requests(), [], "no key went to a server that is not trusted");
    let trusted = chat(&place, &url).env("SSL_CERT_FILE", &authority).output().expect(0);
    assert_eq!(trusted.stdout, "Hi.\n");
    let elsewhere = url.replace("127.0.0.1", "localhost");
    let [error, _] = told(chat(&place, &elsewhere).env("SSL_CERT_FILE", &authority).output());
    assert!(error.ends_with("it is for another name"), "{error}");
    let (proxy, seen) = proxy(Act::Forward(port));
    let through = chat(&place, &url).env("SSL_CERT_FILE", &authority).env("HTTPS_PROXY", &proxy);
    assert_eq!(through.output().expect(0).stdout, "Hi.\n");
    assert_eq!(*seen.lock().unwrap(), [format!("CONNECT 127.0.0.1:{port} HTTP/1.1")]);
}
