//! Who is answered, and with which headers.
//!
//! The server listens on this machine's own address and answers only whoever names it so: a page of elsewhere whose name
//! was made to lead here (DNS rebinding) does not. It knows GET and HEAD, reads no body, and no answer may be taken for
//! another kind of document, put into a frame, or read by a page of another origin.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;

use super::routes;
use super::shelf::Shelf;

/// What a page may do: run the program's own script and style, and ask this server. Nothing that a run holds is among
/// them, so a text that broke out of its place could not run.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
    base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// Headers of every answer.
const HEADERS: [(HeaderName, &str); 7] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// A server that has its port, and answers from [`Server::serve`] on.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
}

impl Server {
    /// Takes `port` of 127.0.0.1; 0: any that is free.
    ///
    /// # Errors
    /// When it is taken.
    pub fn bind(port: u16) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until the future is dropped.
    ///
    /// # Errors
    /// When the listener fails.
    pub async fn serve(self, shelf: Shelf) -> std::io::Result<()> {
        let guard = Arc::new(Guard::new(self.address.port()));
        let routes = routes::routes(Arc::new(shelf)).layer(from_fn_with_state(guard, guarded));
        axum::serve(tokio::net::TcpListener::from_std(self.listener)?, routes).await
    }
}

/// The names that this server answers to.
#[derive(Debug)]
struct Guard {
    hosts: Vec<String>,
}

impl Guard {
    fn new(port: u16) -> Self {
        let names = ["127.0.0.1", "localhost"];
        let mut hosts: Vec<String> = names.iter().map(|name| format!("{name}:{port}")).collect();
        if port == 80 {
            hosts.extend(names.map(str::to_owned));
        }
        Self { hosts }
    }

    fn knows(&self, host: &str) -> bool {
        self.hosts.iter().any(|known| known.eq_ignore_ascii_case(host))
    }

    /// Why a request is not answered.
    fn refusal(&self, request: &Request) -> Option<(StatusCode, &'static str)> {
        let headers = request.headers();
        let mut hosts = headers.get_all(header::HOST).iter();
        let named = match (hosts.next(), hosts.next()) {
            (Some(host), None) => host.to_str().is_ok_and(|host| self.knows(host)),
            _ => false,
        };
        // A target in full names its host once more.
        let target = request.uri().authority().is_none_or(|authority| self.knows(authority.as_str()));
        if !named || !target {
            return Some((
                StatusCode::MISDIRECTED_REQUEST,
                "this server answers to 127.0.0.1 and localhost only",
            ));
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Some((StatusCode::METHOD_NOT_ALLOWED, "runs are only read: GET and HEAD"));
        }
        if is_of_elsewhere(headers) {
            return Some((StatusCode::FORBIDDEN, "a page of elsewhere asked"));
        }
        None
    }
}

/// Browsers say from where a page asks. A link that was followed by hand may come from anywhere.
fn is_of_elsewhere(headers: &HeaderMap) -> bool {
    let says = |name: &str, value: &str| headers.get(name).is_some_and(|told| told == value);
    let site = headers.get("sec-fetch-site");
    let elsewhere = site.is_some_and(|site| site != "same-origin" && site != "none");
    elsewhere && !(says("sec-fetch-mode", "navigate") && says("sec-fetch-dest", "document"))
}

async fn guarded(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let mut response = match guard.refusal(&request) {
        None => next.run(request).await,
        Some((status, why)) => {
            let mut response = Response::new(Body::from(format!("{why}\n")));
            *response.status_mut() = status;
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
            if status == StatusCode::METHOD_NOT_ALLOWED {
                headers.insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
            }
            response
        }
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
