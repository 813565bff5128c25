//! Access tokens of a sign-in, as Kaggle's own tool has them: the token that lasts is exchanged for one that does not, when
//! there is none or the service refuses the one at hand. What is got is kept for this process; the file of the sign-in is
//! never written.

use std::time::Duration;

use jiff::Timestamp;
use reqwest::{StatusCode, Url};
use serde::Deserialize;

use crate::credentials::SignIn;
use crate::error::DownloadError;
use crate::service::{KAGGLE, Service, causes, words};

/// Where Kaggle itself exchanges tokens.
const EXCHANGE: &str = "https://api.kaggle.com/v1";

/// What is asked for there.
const PROCEDURE: &str = "users.AccountService/GenerateAccessToken";

/// How long a token is to be of use: as Kaggle's tool asks.
const LASTING: Duration = Duration::from_hours(12);

/// What is answered; the rest does not matter.
#[derive(Deserialize)]
struct Answer {
    token: String,
}

impl Service {
    /// A token of the sign-in, another than the `refused` one. Many may ask at once: one exchange serves all of them.
    pub(crate) async fn access_token(
        &self,
        sign_in: &SignIn,
        refused: Option<&str>,
    ) -> Result<String, DownloadError> {
        let mut held = self.held_token.lock().await;
        let known = held.as_deref().or_else(|| sign_in.valid(Timestamp::now()));
        if let Some(token) = known.filter(|token| Some(*token) != refused) {
            return Ok(token.to_owned());
        }
        let token = self.exchange(&sign_in.refresh_token).await?;
        Ok(held.insert(token).clone())
    }

    async fn exchange(&self, refresh_token: &str) -> Result<String, DownloadError> {
        let address = match self.base.as_str().trim_end_matches('/') {
            KAGGLE => format!("{EXCHANGE}/{PROCEDURE}"),
            other => format!("{other}/api/v1/{PROCEDURE}"),
        };
        let address = Url::parse(&address).map_err(|error| DownloadError::Client(error.to_string()))?;
        if !self.may_have_secrets() {
            return Err(DownloadError::NoCredentials);
        }
        let asked = serde_json::json!({
            "refreshToken": refresh_token,
            "apiVersion": "API_VERSION_V1",
            "expirationDuration": format!("{}s", LASTING.as_secs()),
        });
        let request =
            self.http.post(address).header("content-type", "application/json").body(asked.to_string());
        let silence = self.settings.silence;
        let answer = tokio::time::timeout(silence, async {
            let response = request.send().await.map_err(|error| DownloadError::Connection(causes(&error)))?;
            let status = response.status();
            if !status.is_success() {
                let said = words(response, silence).await;
                let said = if said.contains(refresh_token) { String::new() } else { said };
                return Err(match status {
                    StatusCode::BAD_REQUEST | StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                        DownloadError::Unauthorized { said }
                    }
                    _ => DownloadError::Status { status: status.as_u16(), said, wait: None },
                });
            }
            response.bytes().await.map_err(|error| DownloadError::Connection(causes(&error)))
        });
        let body = answer.await.map_err(|_| DownloadError::Silent(silence))??;
        let token = serde_json::from_slice(&body).map(|answer: Answer| answer.token).unwrap_or_default();
        // What a document is that is none may hold a secret.
        if token.is_empty() {
            return Err(DownloadError::Unauthorized { said: "no token came for the sign-in".to_owned() });
        }
        Ok(token)
    }
}
