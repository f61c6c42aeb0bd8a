//! All checks, in the order in which they matter.

use neco_config::{Config, Env, LoadOptions};
use serde_json::json;

use super::finding::{Finding, Health, as_lines};
use super::{machine, models};
use crate::args::EverywhereArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::terminal::Terminal;
use crate::{say, wire};

/// Runs `neco doctor`.
///
/// # Errors
/// When nothing can be checked at all.
pub fn run(json: bool, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let folder = crate::folder(everywhere)?;
    let loaded = neco_config::load(LoadOptions { env, cwd: &folder, overrides: &everywhere.overrides });
    let mut findings = machine::configuration(&loaded, env);
    let config = loaded.map_or_else(|_| Config::built_in(), |loaded| loaded.config);
    wire::runtime()?.block_on(async {
        findings.extend(models::check(&config, env).await);
        findings.push(machine::store(env).await);
    });
    findings.extend(machine::programs(&config, env));
    findings.push(machine::sandbox());
    findings.push(machine::terminal(env));
    let text = match json {
        true => format!("{:#}\n", json!({ "version": env!("CARGO_PKG_VERSION"), "findings": findings })),
        false => report(&findings, env),
    };
    say::out(&text)?;
    let sick = findings.iter().any(|finding| finding.health == Health::Fail);
    Ok(if sick { Exit::Failed } else { Exit::Done })
}

fn report(findings: &[Finding], env: &Env) -> String {
    let count = |health| findings.iter().filter(|finding| finding.health == health).count();
    let (failed, warned) = (count(Health::Fail), count(Health::Warn));
    let end = match (failed, warned) {
        (0, 0) => "everything is as it should be".to_owned(),
        (0, warned) => format!("it works; {warned} to know about"),
        (failed, _) => format!("{failed} to fix"),
    };
    format!("neco {}\n{}{end}\n", env!("CARGO_PKG_VERSION"), as_lines(findings, Terminal::look_at(env).stdout_paint()))
}
