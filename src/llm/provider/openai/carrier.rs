//! async-openai as the carrier of a try: its client over our exchange, and its errors in our words.

use std::sync::Arc;
use std::task::{Context, Poll};

use async_openai::config::{Config, OpenAIConfig};
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use futures_util::future::BoxFuture;
use http::header::AUTHORIZATION;

use crate::endpoint::Endpoint;
use crate::error::ServiceFailure;
use crate::ledger::Settled;
use crate::provider::Failed;
use crate::provider::http::{Connection, Exchange, Service, causes, cut};
use crate::secret::Secret;

/// The client of one try. Every variable that async-openai would read from the environment is set here.
pub(super) fn client(
    endpoint: &Endpoint,
    connection: &Connection,
    exchange: &Arc<Exchange>,
) -> async_openai::Client<OpenAIConfig> {
    let extra = |name: &str| endpoint.extra.get(name).cloned().unwrap_or_default();
    let config = OpenAIConfig::new()
        .with_api_base(endpoint.base_url.clone().unwrap_or_default())
        .with_api_key(endpoint.key.as_ref().map(Secret::expose).unwrap_or_default())
        .with_org_id(extra("OPENAI_ORG_ID"))
        .with_project_id(extra("OPENAI_PROJECT_ID"));
    over(config, connection, exchange)
}

fn over<C: Config>(config: C, connection: &Connection, exchange: &Arc<Exchange>) -> async_openai::Client<C> {
    let service = Service { connection: connection.clone(), exchange: Arc::clone(exchange) };
    async_openai::Client::build(connection.http.clone(), config).with_http_service(Carrier(service))
}

/// The failure that an error of async-openai means where the exchange left none.
pub(super) fn failed(error: &OpenAIError) -> Failed {
    let message = match error {
        OpenAIError::JSONDeserialize(error, content) => {
            format!("the answer is not JSON ({error}): {}", cut(content))
        }
        OpenAIError::Reqwest(error) if error.is_builder() => {
            let message = format!("the request cannot be built: {}", causes(error));
            return Failed::service(ServiceFailure::Network, Settled::NotBilled, message);
        }
        other => cut(&causes(other)),
    };
    Failed::service(ServiceFailure::BadAnswer, Settled::Unknown, message)
}

#[derive(Clone)]
struct Carrier(Service);

impl tower::Service<HttpRequestFactory> for Carrier {
    type Response = reqwest::Response;
    type Error = OpenAIError;
    type Future = BoxFuture<'static, Result<reqwest::Response, OpenAIError>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), OpenAIError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, factory: HttpRequestFactory) -> Self::Future {
        let service = self.0.clone();
        Box::pin(async move {
            let mut request = factory.build().await?;
            hide_key(&mut request);
            let response = service.exchange(request).await;
            response.map_err(|()| OpenAIError::Boxed("see the exchange".into()))
        })
    }
}

/// Marks the key as not to be logged; takes the header off where there is no key.
fn hide_key(request: &mut reqwest::Request) {
    let headers = request.headers_mut();
    match headers.get_mut(AUTHORIZATION) {
        Some(value) if value.as_bytes().trim_ascii_end() == b"Bearer" => drop(headers.remove(AUTHORIZATION)),
        Some(value) => value.set_sensitive(true),
        None => {}
    }
}
