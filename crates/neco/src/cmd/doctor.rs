//! `neco doctor`: what is there, what is missing, and how to put it right.

use std::future::ready;

use futures::StreamExt;
use futures::stream::once;
use neco_config::Env;
use neco_proto::app::doctor::{Examine, Examined, Finding, Health};
use neco_proto::app::{App, Caller};
use neco_view::paint::lists::doctor::{as_lines, end};

use crate::args::{EverywhereArgs, JsonArg};
use crate::ask;
use crate::cmd::program::{block_on, folder, print, without_store};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::say;
use crate::terminal::{self, Terminal};

/// Where what was found begins in a line.
const HANGING: usize = 18;

/// Runs `neco doctor`.
pub fn run(json: JsonArg, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let (terminal, request) = (terminal::look_at(env), Examine { folder: folder(everywhere)? });
    let tell = |finding: &Finding| match json.json {
        true => Ok(()),
        false => say::lines(&as_lines(std::slice::from_ref(finding), terminal.stdout_paint()), HANGING),
    };
    if !json.json {
        say::lines(&format!("neco {}\n", env!("CARGO_PKG_VERSION")), HANGING)?;
    }
    let (app, person): (&dyn App, _) = (&without_store(everywhere, env), Caller::person());
    let findings = block_on(async {
        let mut findings = Vec::new();
        let mut found = app.watch(&person, &request).chain(once(ready(Ok(seen_from(&terminal, env)))));
        while let Some(finding) = found.next().await.transpose()? {
            tell(&finding)?;
            findings.push(finding);
        }
        Ok(findings)
    })?;
    let sick = findings.iter().any(|finding| finding.health == Health::Fail);
    match json.json {
        true => drop(print(json, &Examined { version: env!("CARGO_PKG_VERSION").to_owned(), findings }, String::new)?),
        false => say::lines(&end(&findings), 0)?,
    }
    Ok(if sick { Exit::Failed } else { Exit::Done })
}

/// The streams, the colours and the editor: what only the command line knows.
fn seen_from(terminal: &Terminal, env: &Env) -> Finding {
    let is = |is: bool| if is { "terminal" } else { "no terminal" };
    let editor = ask::programs(env).editor;
    Finding::ok(
        "terminal",
        format!(
            "stdin {}, stdout {}, stderr {}; TERM={}; editor: {}",
            is(terminal.stdin),
            is(terminal.stdout),
            is(terminal.stderr),
            env.var("TERM").unwrap_or("(not set)"),
            editor.display()
        ),
    )
}
