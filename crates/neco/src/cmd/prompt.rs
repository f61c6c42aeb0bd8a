//! `neco prompt show`: exactly what a model would be told, and how much room each part takes.
//!
//! Nothing is asked and nothing is kept: a session is opened on a store in memory, with what the real
//! store has of it, and says what it would send.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use neco_agent::{Budget, CapabilityLevel};
use neco_app::services::{self, ServiceSetup};
use neco_app::workspace::plugged::Plugged;
use neco_app::workspace::told_files::ToldFiles;
use neco_app::workspace::{rules, sandbox};
use neco_config::{Config, Env, LoadOptions, Loaded};
use neco_model::route::Timeouts;
use neco_model::scripted::ScriptedModel;
use neco_model::{Models, Provider, SetupError};
use neco_proto::{Answer, Client, ClientError, ContextReport, LayerSize, Message, Part, PromptReport, Query, Role};
use neco_safety::policy::LoadedPolicy;
use neco_safety::secrets::Redactor;
use neco_sandbox::Ask;
use neco_session::hub::FindModel;
use neco_session::{Hub, SessionOptions};
use neco_store::{Catalog, Durability, EventLog, MemoryStore, SessionRecord, lease_and_append};

use crate::args::EverywhereArgs;
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::clean::clean;
use crate::print::figures;
use crate::prompt_args::{PromptArgs, PromptCommand};
use crate::say;

/// How many events are read from a log at a time.
const PAGE: usize = 2048;

/// What stands for a model where none is configured.
const NO_MODEL: &str = "no/model";

/// Runs `neco prompt …`.
///
/// # Errors
/// When the session, the configuration or a prompt can't be used.
pub fn run(command: &PromptCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let PromptCommand::Show(args) = command;
    let folder = crate::folder(everywhere)?;
    let report = compose::runtime()?.block_on(told(args, everywhere, env, &folder))?;
    say::out(&match (args.json, args.sizes) {
        (true, true) => format!("{:#}\n", as_value(&report.context)?),
        (true, false) => format!("{:#}\n", as_value(&report)?),
        (false, true) => sizes(&report.context),
        (false, false) => whole(&report),
    })?;
    Ok(Exit::Done)
}

fn as_value(report: &impl serde::Serialize) -> Result<serde_json::Value, Failure> {
    serde_json::to_value(report).map_err(|error| Failure::new(Exit::Failed, error.to_string()))
}

async fn told(
    args: &PromptArgs,
    everywhere: &EverywhereArgs,
    env: &Env,
    folder: &Path,
) -> Result<PromptReport, Failure> {
    let memory = Arc::new(MemoryStore::default());
    let record = match &args.session {
        Some(id) => Some(copied(id, env, &memory).await?),
        None => None,
    };
    let folder = record.as_ref().map_or_else(|| folder.to_owned(), |record| PathBuf::from(&record.cwd));
    let loaded = neco_config::load(LoadOptions { env, cwd: &folder, overrides: &everywhere.overrides })?;
    loaded.warnings.iter().for_each(|warning| say::note(&warning.to_string()));
    let kept = tempfile::tempdir().map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
    let is_new = record.is_none();
    if is_new {
        plans_into(kept.path(), env)?;
    }
    let hub = hub(args, &memory, env, &folder, &loaded, kept.path())?;
    let options = options(args, &loaded.config)?;
    let session = match record {
        Some(record) => hub.open(record, options).await?,
        None => hub.create(&folder, options).await?,
    };
    let answer = session.ask(Query::Prompt).await;
    session.close().await;
    if is_new && loaded.config.memory.enabled && super::memory::has_entries(&folder, everywhere, env).await {
        say::note("what is recalled from the memory is chosen with the first message, so it is not shown here");
    }
    match answer {
        Ok(Answer::Prompt(report)) => Ok(report),
        Ok(_) | Err(ClientError::Gone) => Err(Failure::new(Exit::Failed, "the session gave no answer")),
        Err(error @ (ClientError::Refused(_) | ClientError::Failed { .. })) => {
            Err(Failure::new(Exit::Failed, error.to_string()))
        }
    }
}

/// A new session is told of plans that others left: they are part of what would be sent.
fn plans_into(data_dir: &Path, env: &Env) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::new(Exit::Failed, error.to_string());
    let Ok(plans) = std::fs::read_dir(env.data_dir().join("plans")) else { return Ok(()) };
    let folder = data_dir.join("plans");
    std::fs::create_dir_all(&folder).map_err(failed)?;
    for plan in plans.filter_map(Result::ok) {
        std::fs::copy(plan.path(), folder.join(plan.file_name())).map_err(failed)?;
    }
    Ok(())
}

/// Copies a session of the real store into memory: opening it adds to its log.
async fn copied(id: &str, env: &Env, memory: &Arc<MemoryStore>) -> Result<SessionRecord, Failure> {
    let store = compose::open_store(env.data_dir()).await?;
    let record = services::hub(&store, ServiceSetup::bare(env, &Config::built_in()))?.find(id).await?;
    memory.create(record.clone()).await?;
    let mut since = 0;
    loop {
        let page = store.read(record.id, since, PAGE).await?;
        let Some(last) = page.last() else { break };
        since = last.seq;
        lease_and_append(memory.as_ref(), page, Durability::Soon).await?;
    }
    store.close().await?;
    Ok(record)
}

fn hub(
    args: &PromptArgs,
    memory: &Arc<MemoryStore>,
    env: &Env,
    folder: &Path,
    loaded: &Loaded,
    data_dir: &Path,
) -> Result<Hub, Failure> {
    let config = &loaded.config;
    let models = services::models(config, env)?;
    let plugged = Plugged::look(env, folder, loaded);
    plugged.note().iter().for_each(|note| say::note(note));
    let LoadedPolicy { policy, warnings, .. } = rules::load(&args.rules.flags(), env, folder, loaded, &plugged)?;
    warnings.iter().for_each(|warning| say::note(&warning.to_string()));
    let redactor = Redactor::new(services::secrets(&models));
    let setup = ServiceSetup {
        tools: args.tools.clone().unwrap_or_default(),
        policy,
        told: ToldFiles::find(env, &plugged)?,
        sandbox: Some(sandbox::open(config, env, Ask::IfChanged)?),
        environment: services::environment(env),
        redactor,
        data_dir: data_dir.to_owned(),
        find_model: find_model(models),
        ..ServiceSetup::bare(env, config)
    };
    Ok(services::hub(memory, setup)?)
}

/// What would be told is worth knowing before there is a model, too.
fn find_model(models: Models) -> FindModel {
    Arc::new(move |name| {
        if name.is_empty() && models.default_name().is_err() {
            say::note("no model is configured, so nothing is known of its window");
            return Ok(Arc::new(ScriptedModel::new("no", "model", Arc::default(), Timeouts::default())));
        }
        let name = if name.is_empty() { models.default_name() } else { Ok(name.to_owned()) };
        name.and_then(|name| found_or_known(&models, &name)).map_err(|error| error.to_string())
    })
}

/// Nobody is asked anything here, so a model whose key is missing is as good as one that could be asked.
fn found_or_known(models: &Models, name: &str) -> Result<Arc<dyn Provider>, SetupError> {
    let error = match models.provider_for(name) {
        Err(error @ SetupError::MissingKey { .. }) => error,
        found => return found,
    };
    let (members, _) = models.members(name)?;
    let Some(member) = members.first() else { return Err(error) };
    let window = Some(models.info(name)?.context_window);
    say::note(&format!("{error}; nothing is asked here, so it is shown all the same"));
    let model = ScriptedModel::new(&member.provider, &member.model, Arc::default(), Timeouts::default());
    Ok(Arc::new(model.with_window(window)))
}

fn options(args: &PromptArgs, config: &Config) -> Result<SessionOptions, Failure> {
    let wanted = args.generation.map(CapabilityLevel::new).transpose();
    Ok(SessionOptions {
        model: args.model.clone(),
        default_model: config.model.clone().unwrap_or_default(),
        mode: args.mode.map(Into::into),
        default_mode: config.mode,
        generation: wanted.map_err(|error| Failure::usage(error.to_string()))?,
        default_generation: config
            .agent
            .generation
            .and_then(|number| CapabilityLevel::new(number).ok())
            .unwrap_or_else(CapabilityLevel::highest),
        approval: config.approval,
        person_present: true,
        max_turns: config.agent.max_turns,
        budget: Budget::default(),
    })
}

/// Everything, part by part under headings.
fn whole(report: &PromptReport) -> String {
    let mut text = sizes(&report.context);
    for layer in &report.system {
        let size = report.context.layers.iter().find(|size| size.layer == layer.layer);
        let tokens = size.map_or(0, |size| size.tokens);
        let _ = writeln!(text, "\n=== {} · {} ===\n{}", layer.layer, tokens_in_words(tokens), clean(&layer.text));
    }
    for tool in &report.tools {
        let (name, tokens) = (clean(&tool.name), tokens_in_words(tool.tokens));
        let _ = writeln!(text, "\n=== tool {name} · {tokens} ===\n{}\n{}", clean(&tool.description), tool.schema);
    }
    for (message, size) in report.messages.iter().zip(&report.context.messages) {
        let tokens = tokens_in_words(size.tokens);
        let _ = writeln!(text, "\n=== {} · {tokens} ===\n{}", role(message.role), clean(&spoken(message)));
    }
    text
}

/// A table: which part, how many tokens, which share.
fn sizes(context: &ContextReport) -> String {
    let model = if context.model == NO_MODEL { "none is configured".to_owned() } else { clean(&context.model) };
    let mut text = format!("model: {model}\n");
    if let Some(window) = context.window {
        let compact_at = context.compact_at.map(|at| format!(", compacted at {}", figures::tokens(at)));
        let _ = writeln!(
            text,
            "window: {} tokens, {} of them for the answer{}",
            figures::tokens(window),
            figures::tokens(context.reserve),
            compact_at.unwrap_or_default()
        );
    }
    let _ = writeln!(text, "\n{:<14} {:>8} {:>7}", "part", "tokens", "share");
    let tools = context.tools.tokens as f64 * 100.0 / context.tokens.max(1) as f64;
    let _ =
        writeln!(text, "{:<14} {:>8} {tools:>6.1}%", figures::count(context.tools.count, "tool"), context.tools.tokens);
    for LayerSize { layer, tokens, share, notes } in &context.layers {
        let _ = writeln!(text, "{layer:<14} {tokens:>8} {share:>6.1}%");
        notes.iter().for_each(|note| text.push_str(&format!("  {}\n", clean(note))));
    }
    let _ = writeln!(text, "{:<14} {:>8}", "together", context.tokens);
    text.push_str(&fits(context));
    text
}

/// How full the window is with it.
fn fits(context: &ContextReport) -> String {
    let Some(window) = context.window else { return String::new() };
    let usable = window.saturating_sub(context.reserve);
    let share = context.tokens as f64 * 100.0 / usable.max(1) as f64;
    let room = figures::tokens(usable);
    if context.tokens < usable {
        return format!("{:<14} {:>8} {share:>6.1}% of the {room} beside the answer\n", "", "");
    }
    format!(
        "\nThis does not fit: {room} tokens are left beside the answer. Fewer tools (--tools …), a lower generation \
         (--gen 1) or a model with a bigger window make it fit.\n"
    )
}

fn tokens_in_words(tokens: u64) -> String {
    figures::count(tokens, "token")
}

fn role(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "results",
    }
}

fn spoken(message: &Message) -> String {
    let part = |part: &Part| match part {
        Part::Text { text } | Part::Reasoning { text, .. } => text.clone(),
        Part::Image { media_type, .. } => format!("[picture, {media_type}]"),
        Part::ToolCall(call) => format!("[call {}] {}", call.name, call.arguments),
        Part::ToolResult(result) => format!("[result]\n{}", result.output),
    };
    message.parts.iter().map(part).collect::<Vec<_>>().join("\n")
}
