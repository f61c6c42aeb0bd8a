//! `neco trust`: which folders may switch something on by themselves.

use std::path::{Path, PathBuf};

use clap::Args;
use neco_config::Env;
use neco_proto::app::trust::{DecideTrust, ForgetTrust, ListTrust, ShowTrust, TrustAnswer, TrustRow, TrustState};
use neco_proto::visible::visible_line;

use crate::args::{EverywhereArgs, JsonArg};
use crate::ask::{self as terminal, Tty};
use crate::cmd::program::{ask, folder, notes, print};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::say;

/// `neco trust …`
#[derive(Debug, Args)]
pub struct TrustArgs {
    /// The folder; without it the one that is worked in
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Trusts it as it is now, without asking
    #[arg(long, conflicts_with_all = ["list", "remove"])]
    pub yes: bool,
    /// Lists the folders you trusted or refused
    #[arg(long, conflicts_with_all = ["folder", "remove"])]
    pub list: bool,
    /// Deletes the decision about the folder
    #[arg(long)]
    pub remove: bool,
    /// Prints JSON
    #[arg(long, requires = "list")]
    pub json: bool,
}

/// Runs `neco trust …`.
pub fn run(args: &TrustArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    if args.list {
        return list(args.json, everywhere, env);
    }
    let folder = match &args.folder {
        Some(folder) => folder.clone(),
        None => crate::folder(everywhere)?,
    };
    if args.remove {
        return remove(&folder, everywhere, env);
    }
    let place = EverywhereArgs { cwd: Some(folder), ..everywhere.clone() };
    decide(args.yes, &place, env)
}

fn decide(yes: bool, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let folder = folder(everywhere)?;
    let mut told = ask(&ShowTrust { folder: folder.clone() }, everywhere, env)?;
    notes(&told.warnings);
    let shown = visible_line(&folder);
    if told.described.is_empty() {
        say::out(&format!("{shown} has no hooks or rules: nothing to trust\n"))?;
        return Ok(Exit::Done);
    }
    let answer = if yes {
        say::out(&told.described)?;
        Some(TrustAnswer::All)
    } else {
        let Some(tty) = Tty::open() else {
            say::out(&told.described)?;
            return Err(Failure::usage("this has to be confirmed, and there is no terminal to ask on")
                .hint("Read the list, then pass --yes."));
        };
        match terminal::trusts(&tty, &told, env) {
            Ok(answer) => answer,
            Err(signal) => return Ok(Exit::Stopped(signal)),
        }
    };
    let taken = match &answer {
        Some(TrustAnswer::Only(taken)) => taken.len(),
        Some(TrustAnswer::All | TrustAnswer::Nothing) | None => 0,
    };
    if let Some(answer) = answer {
        let (trusted, only) = match answer {
            TrustAnswer::All => (true, None),
            TrustAnswer::Nothing => (false, None),
            TrustAnswer::Only(taken) => (true, Some(taken)),
        };
        told = ask(&DecideTrust { folder, seen: told.seen, trusted, only }, everywhere, env)?;
    }
    let (words, exit) = match (told.all_on, taken) {
        (true, _) => (format!("{shown} is trusted\n"), Exit::Done),
        (false, 0) => (format!("{shown} is not trusted: what it would switch on stays off\n"), Exit::Refused),
        (false, _) => {
            let all = told.parts.len();
            (format!("{shown} is trusted in part: {taken} of {all} are on, the rest stays off\n"), Exit::Done)
        }
    };
    say::out(&words)?;
    Ok(exit)
}

fn remove(folder: &Path, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let folder = folder.display().to_string();
    let shown = visible_line(&folder);
    let words = match ask(&ForgetTrust { folder }, everywhere, env)?.known {
        true => format!("{shown}: decision deleted; you are asked again when you work there\n"),
        false => format!("no decision about {shown}\n"),
    };
    say::out(&words)?;
    Ok(Exit::Done)
}

fn list(json: bool, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let list = ask(&ListTrust {}, everywhere, env)?;
    let state = |state: TrustState| match state {
        TrustState::Trusted => "trusted",
        TrustState::Declined => "not trusted",
        TrustState::Gone => "gone",
        TrustState::Other => "newer",
    };
    print(JsonArg { json }, &list, || {
        let line = |row: &TrustRow| format!("{:<11} {}\n", state(row.state), visible_line(&row.path));
        match list.folders.as_slice() {
            [] => "no folder was trusted or refused yet\n".to_owned(),
            folders => folders.iter().map(line).collect(),
        }
    })
}
