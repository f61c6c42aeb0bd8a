//! All checks, in the order in which they matter.

use neco_config::{Config, Env, LoadOptions};
use serde_json::json;

use super::finding::{Finding, Health, as_lines};
use super::{checkpoints, machine, models, plugged};
use crate::args::EverywhereArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::paint::Paint;
use crate::terminal::Terminal;
use crate::{compose, say};

/// Where what was found begins in a line.
const HANGING: usize = 16;

/// Runs `neco doctor`.
///
/// # Errors
/// When nothing can be checked at all.
pub fn run(json: bool, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let mut findings = compose::runtime()?.block_on(examine(everywhere, env))?;
    findings.push(machine::terminal(env));
    if json {
        say::out(&format!("{:#}\n", json!({ "version": env!("CARGO_PKG_VERSION"), "findings": findings })))?;
    } else {
        say::lines(&lines(&findings, Terminal::look_at(env).stdout_paint()), HANGING)?;
        say::lines(&end(&findings), 0)?;
    }
    let sick = findings.iter().any(|finding| finding.health == Health::Fail);
    Ok(if sick { Exit::Failed } else { Exit::Done })
}

/// What was found, for whoever has the terminal already.
///
/// # Errors
/// When nothing can be checked at all.
pub async fn report(everywhere: &EverywhereArgs, env: &Env) -> Result<String, Failure> {
    let findings = examine(everywhere, env).await?;
    Ok(lines(&findings, Paint::default()) + &end(&findings))
}

async fn examine(everywhere: &EverywhereArgs, env: &Env) -> Result<Vec<Finding>, Failure> {
    let folder = crate::folder(everywhere)?;
    let loaded = neco_config::load(LoadOptions { env, cwd: &folder, overrides: &everywhere.overrides });
    let mut findings = machine::configuration(&loaded, env);
    let plugged = loaded.as_ref().ok().map(|loaded| plugged::check(&folder, env, loaded));
    let readable = loaded.is_ok();
    let config = loaded.map_or_else(|_| Config::built_in(), |loaded| loaded.config);
    match readable {
        true => findings.extend(models::check(&config, env).await),
        // What a broken file leads to is not another fault.
        false => findings.push(Finding::info("model", "not looked at before the configuration can be read")),
    }
    findings.extend(machine::store(env).await);
    findings.push(checkpoints::check(&folder, &config, env));
    findings.extend(machine::programs(&config, env));
    findings.extend(machine::sandbox(&config, env));
    findings.extend(plugged.into_iter().flatten());
    Ok(findings)
}

fn lines(findings: &[Finding], paint: Paint) -> String {
    format!("neco {}\n{}", env!("CARGO_PKG_VERSION"), as_lines(findings, paint))
}

fn end(findings: &[Finding]) -> String {
    let count = |health| findings.iter().filter(|finding| finding.health == health).count();
    match (count(Health::Fail), count(Health::Warn)) {
        (0, 0) => "nothing is missing; no model was asked\n".to_owned(),
        (0, warned) => format!("nothing is broken, {warned} to know about; no model was asked\n"),
        (failed, _) => format!("{failed} to fix\n"),
    }
}
