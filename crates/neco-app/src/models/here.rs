//! The models of a folder's settings.

use std::path::Path;
use std::time::Duration;

use neco_model::{LocalServer, ModelInfo, Models};
use neco_proto::app::AppError;
use neco_proto::app::models::{LongPrompt, ModelFacts};

use super::server::Server;
use crate::app::StorelessApp;
use crate::services;
use crate::workspace::keys;

/// How long local servers have to answer.
const PROBE: Duration = Duration::from_millis(500);

/// Models, before anybody looked which servers answer.
pub(super) struct Here {
    pub models: Models,
    /// What is to be said of the settings.
    pub warnings: Vec<String>,
}

impl Here {
    pub(super) fn look(app: &StorelessApp, folder: &str) -> Result<Self, AppError> {
        Self::with(app, folder, None)
    }

    /// The same as if the settings had `server`.
    pub(super) fn with(app: &StorelessApp, folder: &str, server: Option<&Server>) -> Result<Self, AppError> {
        let more = server.map(Server::settings).unwrap_or_default();
        let loaded = app.settings_with(Path::new(folder), &more)?;
        let warnings = loaded.warnings.iter().map(ToString::to_string).chain(keys::warnings(&loaded)).collect();
        match services::models(&loaded.config, &app.env) {
            Ok(models) => Ok(Self { models, warnings }),
            Err(error) => Err(error.after(&warnings)),
        }
    }

    /// Servers of this machine that answer; they are asked from now on.
    pub(super) async fn probe(&self) -> Vec<LocalServer> {
        let servers = self.models.probe_local(PROBE).await;
        self.models.use_local(&servers);
        servers
    }
}

/// What is known of a model.
pub(super) fn facts(info: &ModelInfo) -> ModelFacts {
    let price = info.price;
    ModelFacts {
        context_window: info.context_window,
        max_output: info.max_output,
        known: info.known,
        input_price: price.map(|price| price.input),
        output_price: price.map(|price| price.output),
        cache_read_price: price.map(|price| price.cache_read),
        cache_write_price: price.map(|price| price.cache_write),
        long_prompt: price.and_then(|price| price.long).map(|long| LongPrompt {
            over: long.over,
            input_times: long.input,
            output_times: long.output,
        }),
        vision: info.vision,
        tools: info.tools,
        reasoning: info.reasoning,
    }
}
