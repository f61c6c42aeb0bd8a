//! `neco trust`: which folders may switch something on by themselves.

use std::path::Path;

use neco_app::workspace::plugged::{Plugged, Scope};
use neco_config::{Env, LoadOptions};
use neco_proto::visible::visible_line;
use neco_safety::Trust;
use neco_safety::trust::{Standing, TrustError};
use serde_json::json;

use crate::args::{EverywhereArgs, TrustArgs};
use crate::ask::{Tty, trust};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::say;

/// Runs `neco trust …`.
///
/// # Errors
/// When the folder can't be used, nobody can be asked, or the decision can't be kept.
pub fn run(args: &TrustArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    if args.list {
        return list(args.json, env);
    }
    let folder = match &args.folder {
        Some(folder) => folder.clone(),
        None => crate::folder(everywhere)?,
    };
    if args.remove {
        return remove(&folder, env);
    }
    let place = EverywhereArgs { cwd: Some(folder), ..everywhere.clone() };
    decide(&crate::folder(&place)?, args.yes, &place, env)
}

fn decide(folder: &Path, yes: bool, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let loaded = neco_config::load(LoadOptions { env, cwd: folder, overrides: &everywhere.overrides })?;
    let mut plugged = Plugged::look(env, folder, &loaded);
    plugged.notices.iter().for_each(|notice| say::note(notice));
    let shown = visible_line(&folder.display().to_string());
    if plugged.is_empty() {
        say::out(&format!("{shown} would switch on nothing: there is nothing to trust\n"))?;
        return Ok(Exit::Done);
    }
    if yes {
        say::out(&plugged.describe(Scope::All))?;
        plugged.decide(Scope::All, true).map_err(not_kept)?;
    } else {
        let Some(tty) = Tty::open() else {
            say::out(&plugged.describe(Scope::All))?;
            return Err(Failure::usage("nobody can be asked here").hint("Look at the list, then pass --yes."));
        };
        trust::ask(&tty, &mut plugged, Scope::All, env).map_err(|words| Failure::new(Exit::Failed, words))?;
    }
    let (words, exit) = match plugged.is_all_on() {
        true => (format!("{shown} is trusted\n"), Exit::Done),
        false => (format!("{shown} is not trusted: what it would switch on stays off\n"), Exit::Refused),
    };
    say::out(&words)?;
    Ok(exit)
}

fn remove(folder: &Path, env: &Env) -> Result<Exit, Failure> {
    let mut trust = Trust::open(env.config_dir()).map_err(not_kept)?;
    let shown = visible_line(&folder.display().to_string());
    let words = match trust.forget(folder).map_err(not_kept)? {
        true => format!("{shown} is forgotten: it is asked about when you next work there\n"),
        false => format!("nothing was decided about {shown}\n"),
    };
    say::out(&words)?;
    Ok(Exit::Done)
}

fn list(as_json: bool, env: &Env) -> Result<Exit, Failure> {
    let trust = Trust::open(env.config_dir()).map_err(not_kept)?;
    let states: Vec<(&str, &str)> =
        trust.folders().iter().map(|known| (state(&trust, known.trusted, &known.path), known.path.as_str())).collect();
    if as_json {
        let folders: Vec<_> = states.iter().map(|(state, path)| json!({ "path": path, "state": state })).collect();
        say::out(&format!("{:#}\n", json!({ "folders": folders })))?;
        return Ok(Exit::Done);
    }
    let lines: String = states.iter().map(|(state, path)| format!("{state:<11} {}\n", visible_line(path))).collect();
    say::out(if lines.is_empty() { "nothing was decided about any folder yet\n" } else { &lines })?;
    Ok(Exit::Done)
}

/// What was decided, unless another folder is there now.
fn state(trust: &Trust, trusted: bool, path: &str) -> &'static str {
    match (trust.standing(Path::new(path)), trusted) {
        (Standing::Trusted, _) => "trusted",
        (Standing::Declined, _) => "not trusted",
        (Standing::Unknown, _) => "gone",
    }
}

fn not_kept(error: TrustError) -> Failure {
    Failure::new(Exit::Failed, error.to_string())
}
