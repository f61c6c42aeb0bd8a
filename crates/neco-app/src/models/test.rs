//! One tiny question to one key of a model, or to each of all that a name stands for.

use std::time::Duration;

use futures::TryStreamExt;
use futures::stream::BoxStream;
use neco_model::trial::{self, Alone};
use neco_model::{ModelError, Trial};
use neco_proto::app::models::{ModelTest, ShowModel, ShownModel, TestModel, TestModels, TestedModel, TestedModels};
use neco_proto::app::{AppError, Trouble};

use super::here::Here;
use super::server::Server;
use super::show::show;
use crate::app::StorelessApp;
use crate::error::of_setup;
use crate::watching::{Told, told};

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

/// Asks everything that a name stands for, one after the other.
pub(crate) async fn test_all(app: &StorelessApp, request: TestModels) -> Result<TestedModels, AppError> {
    let happened: Vec<ModelTest> = watch_tests(app, request).try_collect().await?;
    let mut tested = TestedModels::default();
    for happened in happened {
        match happened {
            ModelTest::Begins { name, .. } => tested.name = name,
            ModelTest::Asked { .. } | ModelTest::Other(_) => {}
            ModelTest::Tested(model) => tested.models.push(*model),
        }
    }
    Ok(tested)
}

/// The same, each as it is known.
pub(crate) fn watch_tests(app: &StorelessApp, request: TestModels) -> BoxStream<'_, Result<ModelTest, AppError>> {
    told(|told| ask_each(app, request, told))
}

async fn ask_each(app: &StorelessApp, request: TestModels, mut told: Told<ModelTest>) -> Result<(), AppError> {
    let TestModels { folder, name } = request;
    let ShownModel { name, models, warnings, .. } = show(app, ShowModel { folder: folder.clone(), name }).await?;
    told.tell(ModelTest::Begins { name: name.clone(), warnings }).await;
    for (number, state) in models.into_iter().flat_map(|model| model.states).enumerate() {
        told.tell(ModelTest::Asked { name: state.name }).await;
        let question = TestModel { folder: folder.clone(), name: name.clone(), number, base: None };
        told.tell(ModelTest::Tested(Box::new(test(app, question).await?))).await;
    }
    Ok(())
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
