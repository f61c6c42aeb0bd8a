//! `neco doctor`: what is there, what is missing, and how to put it right.

use neco_config::Env;
use neco_proto::app::doctor::{Examine, Finding, Health};
use neco_view::paint::lists::doctor::{as_lines, end};

use crate::args::{EverywhereArgs, JsonArg};
use crate::ask;
use crate::cmd::program::{ask, folder, print};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::say;
use crate::terminal::Terminal;

/// Where what was found begins in a line.
const HANGING: usize = 16;

/// Runs `neco doctor`.
///
/// # Errors
/// When nothing can be checked at all.
pub fn run(json: JsonArg, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let mut examined = ask(&Examine { folder: folder(everywhere)? }, everywhere, env)?;
    let terminal = Terminal::look_at(env);
    examined.findings.push(seen_from(&terminal, env));
    let findings = &examined.findings;
    if json.json {
        print(json, &examined, String::new)?;
    } else {
        let lines = as_lines(findings, terminal.stdout_paint());
        say::lines(&format!("neco {}\n{lines}", examined.version), HANGING)?;
        say::lines(&end(findings), 0)?;
    }
    let sick = findings.iter().any(|finding| finding.health == Health::Fail);
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
