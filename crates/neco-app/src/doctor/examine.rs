//! All checks, in the order in which they matter.

use std::path::Path;

use neco_config::Config;
use neco_proto::app::AppError;
use neco_proto::app::doctor::{Examine, Examined, Finding, ShowSandbox, ShownSandbox};
use neco_sandbox::Ask;

use super::{machine, models, plugged};
use crate::app::StorelessApp;
use crate::workspace::sandbox::open;

pub(crate) async fn examine(app: &StorelessApp, request: Examine) -> Result<Examined, AppError> {
    let (folder, env) = (Path::new(&request.folder), &app.env);
    let loaded = app.load(folder);
    let mut findings = machine::configuration(&loaded, env);
    let plugged = loaded.as_ref().ok().map(|loaded| plugged::check(folder, env, loaded));
    let readable = loaded.is_ok();
    let config = loaded.map_or_else(|_| Config::built_in(), |loaded| loaded.config);
    match readable {
        true => findings.extend(models::check(&config, env).await),
        // What a broken file leads to is not another fault.
        false => findings.push(Finding::info("model", "not looked at before the configuration can be read")),
    }
    findings.extend(machine::store(env).await);
    findings.push(machine::checkpoints(folder, &config, env));
    findings.extend(machine::programs(&config, env));
    findings.extend(machine::sandbox(&config, env));
    findings.extend(plugged.into_iter().flatten());
    Ok(Examined { version: env!("CARGO_PKG_VERSION").to_owned(), findings })
}

pub(crate) async fn sandbox(app: &StorelessApp, request: ShowSandbox) -> Result<ShownSandbox, AppError> {
    let sandbox = open(&app.settings(Path::new(&request.folder))?.config, &app.env, Ask::IfChanged)?;
    let report = sandbox.report();
    Ok(ShownSandbox { in_short: report.in_short(), gaps: report.gaps.iter().map(ToString::to_string).collect() })
}
