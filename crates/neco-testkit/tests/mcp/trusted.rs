//! A server that a repository brings is started only as it was trusted.

use std::fs;

use neco_config::{Env, LoadOptions, load};
use neco_ext::mcp::{ServerSettings, find};

use crate::stage::{FAKE, SERVER, Stage, program_of, within};

const SHARED: &str = r#"{"mcpServers": {"x": {"command": "sh", "args": ["run.sh"]}}}"#;

/// Writes the script that starts the fake server.
fn write(stage: &Stage, remark: &str) {
    let script = format!("# {remark}\nexec '{FAKE}' --record '{}'\n", stage.record.display());
    fs::write(stage.workspace.join("run.sh"), script).unwrap();
}

/// The server that the folder brings, as its files are now.
fn found(stage: &Stage) -> ServerSettings {
    let (home, folder) = (stage.root.join("home"), stage.workspace.as_path());
    let env = Env::for_test([("NECO_HOME", home.to_str().unwrap())], &home);
    let loaded = load(LoadOptions { env: &env, cwd: folder, overrides: &[] }).unwrap();
    let mut settings = find(&env, folder, &loaded, &[]).servers.remove(0).settings;
    program_of(&mut settings).unboxed = true;
    settings
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_was_changed_is_not_started() {
    let stage = Stage::new();
    fs::write(stage.workspace.join(".mcp.json"), SHARED).unwrap();
    write(&stage, "as it was seen");
    let settings = found(&stage);
    write(&stage, "another one");
    let servers = stage.servers(vec![settings.clone()]);
    let error = within(servers.learn(SERVER)).await.unwrap_err().to_string();
    assert!(error.contains("changed since you trusted it") && stage.starts() == 0, "{error}");
    write(&stage, "as it was seen");
    let servers = stage.servers(vec![settings]);
    within(servers.learn(SERVER)).await.unwrap();
    assert_eq!(stage.starts(), 1);
    within(servers.close()).await;
}
