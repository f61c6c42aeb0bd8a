//! Neco beside other agents, all with the same scripted model: a hello, and a run of small commands.
//!
//! What the others are and how they are set up says [`crate::peer`].

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;
use serde_json::Value;

use super::Setting;
use crate::answer::{self, Turn};
use crate::clock::milliseconds;
use crate::peer::{self, EFFECT, NECO, NOT_IN_NPM, PEERS, Peer};
use crate::program::{self, Run};
use crate::report::{PeerRow, Report};
use crate::samples::Samples;
use crate::server::{Server, gaps};
use crate::stage::Stage;

const HELLOS: usize = 5;
const TURNS: usize = 20;

/// Measures it. A peer that can't be had or run is left out, with the reason.
pub fn measure(setting: &Setting<'_>, report: &mut Report) -> anyhow::Result<()> {
    let version = setting.program.version()?;
    report.peers.push(row(&NECO, &version, setting.program.path(), setting.folder)?);
    let folder = std::env::current_exe()?.ancestors().nth(2).context("no folder for the peers")?.join("peers");
    for (package, peer) in PEERS {
        let measured = installed(package, peer, &folder)
            .and_then(|(version, program)| row(peer, &format!("{} {version}", peer.name), &program, setting.folder));
        match measured {
            Ok(row) => report.peers.push(row),
            Err(why) => report.skip(peer.name, &format!("{why:#}")),
        }
    }
    for name in NOT_IN_NPM {
        report.skip(name, "npm has no package of it");
    }
    Ok(())
}

/// The version and the program of a peer, which npm installs below `folder` if it is not there.
fn installed(package: &str, peer: &Peer, folder: &Path) -> anyhow::Result<(String, PathBuf)> {
    let folder = folder.join(peer.name);
    let modules = folder.join("node_modules");
    let program = modules.join(".bin").join(peer.name);
    if !program.exists() {
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("package.json"), "{ \"private\": true }\n")?;
        let output = Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--loglevel", "error", "--prefix"])
            .args([folder.as_os_str(), package.as_ref()])
            .stdin(Stdio::null())
            .output()
            .context("npm can't be started")?;
        let said = String::from_utf8_lossy(&output.stderr);
        anyhow::ensure!(output.status.success(), "npm install {package}: {}", said.trim().replace('\n', " / "));
    }
    let about: Value = serde_json::from_slice(&fs::read(modules.join(package).join("package.json"))?)?;
    Ok((about["version"].as_str().unwrap_or("of no version").to_owned(), program))
}

fn row(peer: &Peer, name: &str, program: &Path, folder: &Path) -> anyhow::Result<PeerRow> {
    let stage = Stage::new(folder)?;
    let hello = [Turn::Text("Hello! What shall we work on?")];
    // The first start makes the home.
    let (_, first) = play(peer, program, &stage, &hello)?;
    let hellos =
        (0..HELLOS).map(|_| Ok(play(peer, program, &stage, &hello)?.0)).collect::<anyhow::Result<Vec<Run>>>()?;
    let call = |number| Turn::call(peer.tool, (peer.arguments_of_tool)(&peer::echo(number)));
    let turns: Vec<Turn> = (0..TURNS).map(call).chain([Turn::Text("Done.")]).collect();
    let (long, _) = play(peer, program, &stage, &turns)?;
    let ran = fs::read_to_string(stage.workspace().join(EFFECT)).unwrap_or_default().lines().count();
    anyhow::ensure!(ran == TURNS, "{ran} commands were run instead of {TURNS}");

    let median = |of: &dyn Fn(&Run) -> f64| Samples::of(hellos.iter().map(of)).map_or(f64::NAN, |all| all.median);
    let complete = |run: &Run| run.exchanges.first().map(|first| first.complete.since(run.used.started));
    Ok(PeerRow {
        name: name.to_owned(),
        start_ms: median(&|run| complete(run).map_or(f64::NAN, milliseconds)),
        turn_ms: Samples::of(gaps(&long.exchanges).into_iter().map(milliseconds)).context("no turns")?.median,
        hello_mb: median(&|run| run.used.peak as f64 / 1e6),
        turns: TURNS,
        turns_mb: long.used.peak as f64 / 1e6,
        turns_cpu_s: long.used.processor.as_secs_f64(),
        request_kb: first.len() as f64 / 1e3,
        tools: tools(&first)?,
    })
}

/// Plays `turns` to a peer; also says what its first request was.
fn play(peer: &Peer, program: &Path, stage: &Stage, turns: &[Turn]) -> anyhow::Result<(Run, Vec<u8>)> {
    let server = Server::start(answer::encode_for(peer.wire, turns))?;
    (peer.set_up)(stage, server.address())?;
    let used = program::measure(stage, program, peer.arguments.iter().map(Into::into).collect(), peer.environment)?;
    let first = server.first_request();
    Ok((Run { used, exchanges: server.finish()? }, first))
}

/// How many tools a request has; those in a group are counted one by one.
fn tools(request: &[u8]) -> anyhow::Result<usize> {
    let request: Value = serde_json::from_slice(request).context("the first request is no JSON")?;
    let tools = request["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    let group =
        |tool: &Value| ["tools", "functionDeclarations"].iter().find_map(|key| tool[key].as_array().map(Vec::len));
    Ok(tools.iter().map(|tool| group(tool).unwrap_or(1)).sum())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tools_in_a_group_are_counted_one_by_one() {
        let request = json!({ "tools": [
            { "type": "function", "name": "a" },
            { "type": "namespace", "name": "b", "tools": [{ "name": "c" }, { "name": "d" }] },
        ] });
        assert_eq!(tools(request.to_string().as_bytes()).unwrap(), 3);
        assert_eq!(tools(b"{}").unwrap(), 0);
        assert!(tools(b"").is_err());
    }

    #[test]
    fn a_peer_that_is_there_is_not_installed_again() {
        let folder = tempfile::tempdir().unwrap();
        let (package, peer) = &PEERS[0];
        let modules = folder.path().join(peer.name).join("node_modules");
        fs::create_dir_all(modules.join(".bin")).unwrap();
        fs::create_dir_all(modules.join(package)).unwrap();
        fs::write(modules.join(".bin").join(peer.name), "").unwrap();
        fs::write(modules.join(package).join("package.json"), r#"{ "version": "1.2.3" }"#).unwrap();
        let (version, program) = installed(package, peer, folder.path()).unwrap();
        assert_eq!(version, "1.2.3");
        assert!(program.ends_with(format!("node_modules/.bin/{}", peer.name)));
    }
}
