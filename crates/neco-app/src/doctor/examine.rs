//! All checks, in the order in which they matter.

use std::path::Path;

use futures::TryStreamExt;
use futures::stream::BoxStream;
use neco_config::Config;
use neco_config::section::SandboxLevel;
use neco_proto::app::AppError;
use neco_proto::app::doctor::{Examine, Examined, Finding, SetSandbox, ShowSandbox, ShownSandbox};
use neco_sandbox::{Ask, Sandbox};

use super::{machine, models, plugged};
use crate::app::StorelessApp;
use crate::error::invalid;
use crate::mcp::Here;
use crate::watching::{Told, told};
use crate::workspace::sandbox::open;

pub(crate) async fn examine(app: &StorelessApp, request: Examine) -> Result<Examined, AppError> {
    let findings = watch(app, request).try_collect().await?;
    Ok(Examined { version: env!("CARGO_PKG_VERSION").to_owned(), findings })
}

/// Each as it is found.
pub(crate) fn watch(app: &StorelessApp, request: Examine) -> BoxStream<'_, Result<Finding, AppError>> {
    told(|told| look(app, request, told))
}

async fn look(app: &StorelessApp, request: Examine, mut told: Told<Finding>) -> Result<(), AppError> {
    let (folder, env) = (Path::new(&request.folder), &app.env);
    let loaded = app.load(folder);
    told.tell_all(machine::configuration(&loaded, env)).await;
    let statuses = || Here::shared(app, &request.folder).map(|here| here.workspace.servers().status());
    let looked_at = |loaded| plugged::check(folder, env, loaded, &statuses().unwrap_or_default());
    let plugged = loaded.as_ref().ok().map(looked_at);
    let readable = loaded.is_ok();
    let config = loaded.map_or_else(|_| Config::built_in(), |loaded| loaded.config);
    match readable {
        true => told.tell_all(models::check(&config, env).await).await,
        // What a broken file leads to is not another fault.
        false => told.tell(Finding::info("model", "not looked at before the configuration can be read")).await,
    }
    told.tell_all(machine::store(env).await).await;
    told.tell(machine::checkpoints(folder, &config, env)).await;
    told.tell_all(machine::programs(&config, env)).await;
    told.tell_all(machine::sandbox(&config, env)).await;
    told.tell_all(plugged.into_iter().flatten()).await;
    Ok(())
}

pub(crate) async fn sandbox(app: &StorelessApp, request: ShowSandbox) -> Result<ShownSandbox, AppError> {
    let (loaded, problems) = app.settings_to_show(Path::new(&request.folder));
    let sandbox = match app.open.find(&request.session) {
        Some(session) => session.sandbox()?,
        None => open(&loaded.config, &app.env, Ask::IfChanged)?,
    };
    Ok(ShownSandbox { problems, ..shown(&sandbox) })
}

pub(crate) async fn set_sandbox(app: &StorelessApp, request: SetSandbox) -> Result<ShownSandbox, AppError> {
    let level = [SandboxLevel::ReadOnly, SandboxLevel::WorkspaceWrite, SandboxLevel::Full];
    let level = level.into_iter().find(|level| level.name() == request.level);
    let level = level.ok_or_else(|| invalid(format!("there is no sandbox level {}", request.level)))?;
    let session = app.open.find(&request.session);
    let session =
        session.ok_or_else(|| invalid("the session is open in another process, which alone has its sandbox"))?;
    Ok(shown(&session.set_sandbox(level)?))
}

fn shown(sandbox: &Sandbox) -> ShownSandbox {
    let report = sandbox.report();
    ShownSandbox {
        in_short: report.in_short(),
        gaps: report.gaps.iter().map(ToString::to_string).collect(),
        level: report.level.name().to_owned(),
        problems: Vec::new(),
    }
}
