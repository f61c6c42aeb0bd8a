//! Other agents, and how each is started with the scripted model: without questions, updates or word to its makers.

use std::net::SocketAddr;

use serde_json::{Value, json};

use crate::answer::Wire;
use crate::stage::Stage;

/// The file that gets a line by every command.
pub const EFFECT: &str = "ran.txt";

const QUESTION: &str = "Do what the script says.";

/// An agent.
pub struct Peer {
    /// Its name, which is also that of its program.
    pub name: &'static str,
    /// What it speaks.
    pub wire: Wire,
    /// Its command line.
    pub arguments: &'static [&'static str],
    /// What its environment has besides that of a login.
    pub environment: &'static [(&'static str, &'static str)],
    /// Its tool that runs commands.
    pub tool: &'static str,
    /// What that tool wants for a command.
    pub arguments_of_tool: fn(&str) -> Value,
    /// Writes its settings: the model is at that address.
    pub set_up: fn(&Stage, SocketAddr) -> anyhow::Result<()>,
}

/// The program under test as one of them.
pub const NECO: Peer = Peer {
    name: "neco",
    wire: Wire::Chat,
    arguments: &["-m", QUESTION, "--yes"],
    environment: &[],
    tool: "bash",
    arguments_of_tool: command,
    set_up: Stage::configure,
};

/// The others, each with its package in npm.
pub const PEERS: &[(&str, Peer)] = &[
    (
        "@openai/codex",
        Peer {
            name: "codex",
            wire: Wire::Responses,
            arguments: &["exec", "--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check", QUESTION],
            environment: &[],
            tool: "exec_command",
            arguments_of_tool: |command| json!({ "cmd": command }),
            set_up: codex,
        },
    ),
    (
        "opencode-ai",
        Peer {
            name: "opencode",
            wire: Wire::Chat,
            arguments: &["run", QUESTION],
            environment: &[
                ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
                ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
                ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
            ],
            tool: "bash",
            arguments_of_tool: |command| json!({ "command": command, "description": "Adds a line" }),
            set_up: opencode,
        },
    ),
    (
        "@earendil-works/pi-coding-agent",
        Peer {
            name: "pi",
            wire: Wire::Chat,
            arguments: &["--provider", "bench", "--model", "scripted", "-p", QUESTION],
            environment: &[("PI_OFFLINE", "1"), ("PI_TELEMETRY", "0"), ("PI_SKIP_VERSION_CHECK", "1")],
            tool: "bash",
            arguments_of_tool: command,
            set_up: pi,
        },
    ),
    (
        "@google/gemini-cli",
        Peer {
            name: "gemini",
            wire: Wire::Gemini,
            arguments: &["--yolo", "--model", "gemini-2.5-pro", "--prompt", QUESTION],
            environment: &[("GEMINI_CLI_TRUST_WORKSPACE", "true")],
            tool: "run_shell_command",
            arguments_of_tool: command,
            set_up: gemini,
        },
    ),
];

/// Those that can't be had that way.
pub const NOT_IN_NPM: &[&str] = &["goose"];

/// A command that every agent can run. No two are the same: some agents stop at what looks like going in circles.
pub fn echo(number: usize) -> String {
    format!("echo {number} >> {EFFECT}")
}

fn command(command: &str) -> Value {
    json!({ "command": command })
}

fn codex(stage: &Stage, address: SocketAddr) -> anyhow::Result<()> {
    let settings = format!(
        "model = \"scripted\"\nmodel_provider = \"bench\"\ncheck_for_update_on_startup = false\n\n\
         [model_providers.bench]\nname = \"bench\"\nbase_url = \"http://{address}/v1\"\nwire_api = \"responses\"\n\n\
         [analytics]\nenabled = false\n"
    );
    stage.write_home(".codex/config.toml", &settings)
}

/// Its small model would be asked for a title beside the first turn; that is taken away.
fn opencode(stage: &Stage, address: SocketAddr) -> anyhow::Result<()> {
    let model = json!({ "name": "scripted", "tool_call": true, "limit": { "context": 1_000_000, "output": 10_000 } });
    let settings = json!({
        "model": "bench/scripted",
        "autoupdate": false,
        "share": "disabled",
        "agent": { "title": { "disable": true } },
        "provider": { "bench": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "bench",
            "options": { "baseURL": format!("http://{address}/v1"), "apiKey": "none" },
            "models": { "scripted": model },
        } },
    });
    stage.write_home(".config/opencode/opencode.json", &settings.to_string())
}

fn pi(stage: &Stage, address: SocketAddr) -> anyhow::Result<()> {
    let settings = json!({ "providers": { "bench": {
        "baseUrl": format!("http://{address}/v1"),
        "api": "openai-completions",
        "apiKey": "none",
        "models": [{ "id": "scripted", "contextWindow": 1_000_000 }],
    } } });
    stage.write_home(".pi/agent/models.json", &settings.to_string())
}

fn gemini(stage: &Stage, address: SocketAddr) -> anyhow::Result<()> {
    let settings = json!({
        "general": { "enableAutoUpdate": false, "enableAutoUpdateNotification": false },
        "privacy": { "usageStatisticsEnabled": false },
        "telemetry": { "enabled": false },
        "security": { "auth": { "selectedType": "gemini-api-key" } },
    });
    stage.write_home(".gemini/settings.json", &settings.to_string())?;
    let model = format!("GEMINI_API_KEY=none\nGOOGLE_GEMINI_BASE_URL=http://{address}\n");
    stage.write_home(".gemini/.env", &model)
}
