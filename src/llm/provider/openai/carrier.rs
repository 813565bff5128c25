//! async-openai as the carrier of a try: its client over our exchange, and its errors in our words.
//!
//! Azure serves the protocol in two forms: deployments in the address under a dated version, and the newer one, which
//! has OpenAI's own addresses and no version. Only the newer has the Responses API.

use std::sync::Arc;
use std::task::{Context, Poll};

use async_openai::config::{AzureConfig, Config, OpenAIConfig};
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use futures_util::future::BoxFuture;
use http::header::{AUTHORIZATION, HeaderName, HeaderValue};

use crate::catalog::Api;
use crate::endpoint::{Endpoint, Protocol};
use crate::error::ServiceFailure;
use crate::ledger::Settled;
use crate::model::ModelName;
use crate::provider::Failed;
use crate::provider::http::{Connection, Exchange, Service, causes, cut};
use crate::secret::Secret;

/// The header of a key at Azure.
const AZURE_KEY: HeaderName = HeaderName::from_static("api-key");

/// A client for one try.
pub(super) type Client = async_openai::Client<Box<dyn Config>>;

/// The client of one try of `api` with `model`.
pub(super) fn client(
    endpoint: &Endpoint,
    model: &ModelName,
    api: Api,
    connection: &Connection,
    exchange: &Arc<Exchange>,
) -> Client {
    let config: Box<dyn Config> = match endpoint.protocol {
        Protocol::Azure => azure(endpoint, model, api),
        _ => Box::new(openai(endpoint)),
    };
    let service = Service { connection: connection.clone(), exchange: Arc::clone(exchange) };
    async_openai::Client::build(connection.http.clone(), config).with_http_service(Carrier(service))
}

/// Every variable that async-openai would read from the environment is set here. It panics on values that no header
/// can hold: keys are checked before, others are left out.
fn openai(endpoint: &Endpoint) -> OpenAIConfig {
    let extra = |name: &str| {
        let value = endpoint.extra.get(name).filter(|value| HeaderValue::from_str(value).is_ok());
        value.cloned().unwrap_or_default()
    };
    OpenAIConfig::new()
        .with_api_base(endpoint.base_url.clone().unwrap_or_default())
        .with_api_key(key(endpoint))
        .with_org_id(extra("OPENAI_ORG_ID"))
        .with_project_id(extra("OPENAI_PROJECT_ID"))
}

fn azure(endpoint: &Endpoint, model: &ModelName, api: Api) -> Box<dyn Config> {
    let address = endpoint.base_url.as_deref().unwrap_or_default();
    let address = address.strip_suffix("/v1").unwrap_or(address);
    let address = address.strip_suffix("/openai").unwrap_or(address);
    let version = endpoint.extra.get("AZURE_OPENAI_API_VERSION");
    let dated = version.filter(|version| version.starts_with(|first: char| first.is_ascii_digit()));
    match dated {
        Some(version) if api == Api::ChatCompletions => {
            let config = AzureConfig::new()
                .with_api_base(address)
                .with_api_version(version)
                .with_deployment_id(&model.model)
                .with_api_key(key(endpoint));
            Box::new(config)
        }
        _ => {
            let newer = Endpoint { base_url: Some(format!("{address}/openai/v1")), ..endpoint.clone() };
            let bare = openai(&newer).with_api_key("");
            // A key that no header can hold was refused before.
            Box::new(bare.clone().with_header(AZURE_KEY, key(endpoint)).unwrap_or(bare))
        }
    }
}

fn key(endpoint: &Endpoint) -> &str {
    endpoint.key.as_ref().map(Secret::expose).unwrap_or_default()
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
    for (name, empty) in [(AUTHORIZATION, "Bearer"), (AZURE_KEY, "")] {
        match headers.get_mut(&name) {
            Some(value) if value.as_bytes().trim_ascii_end() == empty.as_bytes() => {
                drop(headers.remove(&name));
            }
            Some(value) => value.set_sensitive(true),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::Catalog;

    /// async-openai unwraps the header.
    #[test]
    fn an_organisation_that_no_header_can_hold_is_left_out() {
        let text = "[providers.lab]\nprotocol = \"openai\"\nbase_url = \"https://lab.example/v1\"\n";
        let catalog = Catalog::parse(text).unwrap();
        let (_, facts) = catalog.providers().next().unwrap();
        let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let variables =
            BTreeMap::from([variable("OPENAI_ORG_ID", "a\nb"), variable("OPENAI_PROJECT_ID", "mine")]);
        let headers = openai(&facts.endpoint("lab", &variables)).headers();
        let told = ["openai-organization", "openai-project"].map(|name| headers.get(name).cloned());
        assert_eq!(told, [None, Some(HeaderValue::from_static("mine"))]);
    }
}
