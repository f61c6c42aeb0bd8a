//! One tiny question to one key of a model.

use std::time::Duration;

use neco_model::trial::{self, Alone};
use neco_model::{ModelError, Trial};
use neco_proto::app::models::{TestModel, TestedModel};
use neco_proto::app::{AppError, Trouble};

use super::here::Here;
use super::server::Server;
use crate::app::StorelessApp;
use crate::error::of_setup;

pub(crate) async fn test(app: &StorelessApp, request: TestModel) -> Result<TestedModel, AppError> {
    let server = request.base.map(|base| Server::at(base, app)).transpose()?;
    let here = Here::with(app, &request.folder, server.as_ref())?;
    here.probe().await;
    let mut all = here.models.each_alone(&request.name).map_err(of_setup)?.into_iter();
    let Some(Alone { name, tools, provider }) = all.nth(request.number) else {
        let words = format!("{} has no key {}", request.name, request.number);
        return Err(AppError::new(Trouble::NotFound, words));
    };
    let provider = match provider {
        Ok(provider) => provider,
        Err(error) => return Ok(TestedModel { name, problem: Some(error.to_string()), ..TestedModel::default() }),
    };
    let trial = trial::attempt(&*provider, tools).await;
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    Ok(TestedModel {
        name,
        ok: trial.passed(),
        problem: problem(&trial),
        code: trial.error.as_ref().map(ModelError::code),
        first_byte_ms: trial.first_byte.map(millis),
        duration_ms: Some(millis(trial.took)),
        tokens_per_second: trial.tokens_per_second(),
        usage: trial.usage,
        called_tool: trial.called,
    })
}

/// Why it did not pass.
fn problem(trial: &Trial) -> Option<String> {
    match (&trial.error, trial.called) {
        (Some(error), _) => Some(error.to_string()),
        (None, Some(false)) => Some(match &trial.miscalled {
            Some(call) => format!("it calls a tool, but not as it is told to: {call}"),
            None => "it answers, but does not call the tool that it is told to call".to_owned(),
        }),
        (None, _) if trial.finish.is_none() => Some("the answer ended before it was whole".to_owned()),
        (None, _) => None,
    }
}
