//! What is told of a model that is tried again or replaced, and of a conversation that is another one now, in one line.

use std::time::Duration;

use neco_proto::event::{
    AgentNode, Checkpoint, Compaction, CompactionCause, CompactionStrategy, Down, Imported, Letter, MemoryAction,
    MemoryUpdate, ModeChange, ModelRetry, ModelSwitch, NodeResult, Rewind, SessionStart, SharedStateUpdate,
    SidePurpose, Up,
};
use neco_proto::{ApprovalMode, ContextReport, ErrorCode, GivenUse, ServerToolsSize, SessionRules, ToolsSize};

use super::rewind::{files_back, reverted};
use crate::figures;
use crate::reduce::block::WorkflowStep;
use neco_proto::clean::clean_line;

/// `fake/good (key 2): fake limits the rate (HTTP 429); trying again in 12.0 s · attempt 2 of 4`.
pub fn retry(retry: &ModelRetry) -> String {
    let who = match retry.model.as_str() {
        "" => String::new(),
        model => format!("{}: ", clean_line(model)),
    };
    let wait = figures::duration(Duration::from_millis(retry.wait_ms));
    format!("{who}{}; trying again in {wait} · {}", clean_line(&retry.message), attempt(retry))
}

/// `fake/good (key 2): attempt 2 of 4`, for the time until then.
pub fn next_attempt(retry: &ModelRetry) -> String {
    match retry.model.as_str() {
        "" => attempt(retry),
        model => format!("{}: {}", clean_line(model), attempt(retry)),
    }
}

/// `fake/other takes over · fake/good: the key was not accepted`.
pub fn switch(switch: &ModelSwitch) -> String {
    let (from, to) = (clean_line(&switch.from), clean_line(&switch.to));
    format!("{to} takes over · {from}: {}", clean_line(&switch.message))
}

/// Why a model did not answer, in a few words; none where the code does not say enough. `cut_off` when a part of the
/// answer had come.
pub fn trouble(code: ErrorCode, cut_off: bool) -> Option<&'static str> {
    Some(match code {
        ErrorCode::ModelTimedOut => "no answer in time",
        ErrorCode::RateLimited => "rate limit",
        ErrorCode::NotAuthorised => "the key is not accepted",
        ErrorCode::ProviderUnavailable if cut_off => "the answer broke off",
        ErrorCode::BudgetUsedUp => "no credit left",
        ErrorCode::EmptyAnswer => "an empty answer",
        ErrorCode::BrokenCall => "a call that can't be read",
        _ => return None,
    })
}

/// `glm-4.7` of `zhipu/glm-4.7`: the name without its provider.
pub fn model_name(model: &str) -> String {
    clean_line(model.rsplit('/').next().unwrap_or(model))
}

/// `compacted: 171.2k → 24.0k tokens (the context is nearly full; 214 messages summed up, 12 kept)`.
pub fn compaction(compaction: &Compaction) -> String {
    let why = match compaction.cause {
        CompactionCause::Full => "the context is nearly full",
        CompactionCause::TooLong => "the model said that the request is too long",
        CompactionCause::Asked => "as asked",
    };
    let removed = figures::count(compaction.removed, "message");
    let how = match compaction.strategy {
        CompactionStrategy::Summary => format!("{removed} summed up, {} kept", compaction.kept),
        CompactionStrategy::Outputs => {
            format!("{} of tools dropped", figures::count(compaction.outputs.len() as u64, "old output"))
        }
        CompactionStrategy::Window => format!("{removed} dropped, {} kept", compaction.kept),
    };
    let (before, after) = (figures::tokens(compaction.before), figures::tokens(compaction.after));
    let notes: String = compaction.notes.iter().map(|note| format!("; {}", clean_line(note))).collect();
    format!("compacted: {before} → {after} tokens ({why}; {how}){notes}")
}

/// `rewound to an earlier message: the conversation and the files`.
pub fn rewind(rewind: &Rewind) -> String {
    if !rewind.reverted.is_empty() {
        return format!("changes put back: {}", reverted(rewind));
    }
    let what = match (rewind.conversation, rewind.files.is_some()) {
        (true, true) => "the conversation and the files",
        (true, false) => "the conversation; files stay as they are",
        (false, _) => "the files; the conversation stays",
    };
    let files = files_back(rewind.changed, rewind.deleted).map(|files| format!(" · {files}")).unwrap_or_default();
    match rewind.undoes {
        Some(_) => format!("rewind undone: {what}{files}"),
        None => format!("rewound to an earlier message: {what}{files}"),
    }
}

/// What tokens beside the conversation were for, and how that is switched off.
pub const BESIDE: &str = "title, memory, reordering of hits; /config switches them off";

/// `given with 2 messages, as their words fit: 900 tokens of 3 files, 1 of them opened since`.
pub fn given(used: &GivenUse) -> String {
    let GivenUse { messages, tokens, files, opened } = used;
    let messages = figures::count(*messages, "message");
    let (tokens, files) = (figures::tokens(*tokens), figures::count(*files, "file"));
    format!("given with {messages}, as the words fit: {tokens} tokens of {files}, {opened} of them opened since")
}

/// `and 2 more tools that are looked up when needed: git, process`; nothing where every tool is declared.
pub fn looked_up(tools: &ToolsSize) -> Option<String> {
    let names: Vec<String> = tools.catalogue.iter().map(|name| clean_line(name)).collect();
    let (more, verb) = if names.len() == 1 { ("more tool", "is") } else { ("more tools", "are") };
    (!names.is_empty())
        .then(|| format!("and {} {more} that {verb} looked up when needed: {}", names.len(), names.join(", ")))
}

/// `12 of them from the MCP server github: 3.1k tokens`, a line for each server.
pub fn of_servers(tools: &ToolsSize) -> impl Iterator<Item = String> + '_ {
    tools.servers.iter().map(|ServerToolsSize { server, count, tokens }| {
        format!("{count} of them from the MCP server {}: {} tokens", clean_line(server), figures::tokens(*tokens))
    })
}

/// That the window of a model is not known, what is assumed in its place, and what says how big it is; nothing where it is
/// known.
pub fn unknown_window(report: &ContextReport) -> Option<String> {
    if report.known_window().is_some() {
        return None;
    }
    // Only a model is named with its provider; of a group it is one of its models.
    let model = clean_line(&report.model);
    let model = if model.contains('/') { model.as_str() } else { "provider/model" };
    let assumed = report.window.map(|window| format!(", {} tokens are assumed", figures::tokens(window)));
    let assumed = assumed.unwrap_or_default();
    Some(format!("window not known{assumed}: set context_window in [models.\"{model}\"]"))
}

/// `naming the session…`.
pub fn side_call(purpose: SidePurpose) -> &'static str {
    match purpose {
        SidePurpose::Title => "naming the session…",
        SidePurpose::Memory => "finding what to remember…",
        SidePurpose::Rerank => "ordering what a search found…",
        SidePurpose::Sampling => "answering an MCP server…",
    }
}

/// What a session asks before; it stands behind the word for that it asks.
pub fn asks(approval: ApprovalMode) -> &'static str {
    match approval {
        ApprovalMode::Auto => "only before what is high risk",
        ApprovalMode::AcceptEdits => "before commands, accepts edits",
        ApprovalMode::AskFirst => "first: before edits and commands",
        ApprovalMode::Manual => "before everything that does more than read",
    }
}

/// The same in a few words: rules may allow edits where they would be asked about.
pub fn asks_in_short(approval: ApprovalMode, rules: &SessionRules) -> &'static str {
    match (approval, rules.edits) {
        (ApprovalMode::Auto, _) => "auto",
        (ApprovalMode::AcceptEdits, _) => "accepts edits",
        (ApprovalMode::AskFirst, false) => "asks first",
        (ApprovalMode::AskFirst, true) => "asks first, except edits",
        (ApprovalMode::Manual, false) => "manual",
        (ApprovalMode::Manual, true) => "manual, except edits",
    }
}

/// `2 allow rules`; nothing where no rule allows anything.
pub fn allow_rules(rules: &SessionRules) -> Option<String> {
    (rules.allowing > 0).then(|| figures::count(rules.allowing, "allow rule"))
}

/// `session started · mine/big · mode agent · approval auto`.
pub fn began(start: &SessionStart) -> String {
    let mut parts = vec![if start.resumed { "session resumed" } else { "session started" }.to_owned()];
    if !start.model.is_empty() {
        let scripted = if start.scripted { " (scripted)" } else { "" };
        parts.push(format!("{}{scripted}", start.model));
    }
    parts.push(format!("mode {}", start.mode));
    parts.push(format!("approval {}", start.approval));
    parts.extend(start.forked_from.map(|from| format!("a fork of {} at event {}", from.session_id, from.seq)));
    parts.join(" · ")
}

/// `now mode plan, approval ask: it is a lot`.
pub fn mode_change(change: &ModeChange) -> String {
    let reason = change.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("now {}{reason}", mode_parts(change).join(", "))
}

/// What a change of modes changes.
pub fn mode_parts(change: &ModeChange) -> Vec<String> {
    let mode = change.mode.map(|mode| format!("mode {mode}"));
    let approval = change.approval.map(|approval| format!("approval {approval}"));
    let model = change.model.as_ref().map(|model| format!("model {model}"));
    let generation = change.generation.map(|generation| format!("tool level {generation}"));
    [mode, approval, model, generation].into_iter().flatten().collect()
}

/// `workflow delivery (running): plan completed, build running`.
pub fn workflow(step: &WorkflowStep) -> String {
    let moved = step.tasks.iter().filter(|task| step.moved.contains(&task.id));
    let tasks: Vec<String> = moved.map(|task| format!("{} {}", task.id, task.state)).collect();
    let tasks = if tasks.is_empty() { String::new() } else { format!(": {}", tasks.join(", ")) };
    format!("workflow {} ({}){tasks}", step.name, step.state)
}

/// `Checkpoint 0a1b2c3d4e5f · 2 changed files`; nothing when nothing had changed.
pub fn checkpoint(checkpoint: &Checkpoint) -> Option<String> {
    let rev: String = checkpoint.rev.chars().take(12).collect();
    let changed = figures::count(checkpoint.changed_count(), "changed file");
    let label = if checkpoint.label.is_empty() { String::new() } else { format!(" · {}", checkpoint.label) };
    (checkpoint.changed_count() > 0).then(|| format!("Checkpoint {rev} · {changed}{label}"))
}

/// `Remembered: how the tests are run`; nothing of what was only looked up.
pub fn memory(update: &MemoryUpdate) -> Option<String> {
    let did = match update.action {
        MemoryAction::Recalled => return None,
        MemoryAction::Stored => "Remembered",
        MemoryAction::Updated => "Memory changed",
    };
    let titles: Vec<&str> = update.entries.iter().map(|entry| entry.title.as_str()).collect();
    Some(format!("{did}: {}", titles.join(" · ")))
}

/// `imported from codex: /home/me/rollout.jsonl; 4 entries left out`.
pub fn imported(imported: &Imported) -> String {
    let left_out = match imported.skipped {
        0 => String::new(),
        skipped => format!("; left out: {}", figures::count(skipped, "line")),
    };
    format!("imported from {}: {}{left_out}", clean_line(&imported.from), clean_line(&imported.file))
}

/// `explore-1: running · find the parser`.
pub fn node(node: &AgentNode) -> String {
    let said = node.result.as_ref().map(result).or_else(|| node.last_message.clone());
    let said = said.unwrap_or_else(|| node.task_for_people().into_owned());
    format!("{}: {} · {}", clean_line(&node.name), node.state, clean_line(&said))
}

/// `plan, version 2, by planner-1: {"steps":["look"]}`.
pub fn shared(update: &SharedStateUpdate) -> String {
    let SharedStateUpdate { key, value, version, writer } = update;
    let value = value.as_ref().map_or_else(|| "removed".to_owned(), ToString::to_string);
    clean_line(&format!("{key}, version {version}, by {writer}: {value}"))
}

/// `report: half of the files are read`.
pub fn letter(letter: &Letter) -> String {
    let (what, said) = match letter {
        Letter::Up(Up::Report { message, .. }) => ("report", message.clone()),
        Letter::Up(Up::Question { text }) => ("question", text.clone()),
        Letter::Up(Up::Ended { result: ended }) => ("ended", result(ended)),
        Letter::Up(Up::Stopped { why, .. }) => ("stopped", why.clone()),
        Letter::Down(Down::Task { text }) => ("task", text.clone()),
        Letter::Down(Down::Redirect { text }) => ("redirect", text.clone()),
        Letter::Down(Down::Answer { text }) => ("answer", text.clone()),
    };
    format!("{what}: {}", clean_line(&said))
}

/// What came of an agent's task, in words.
pub fn result(result: &NodeResult) -> String {
    match result {
        NodeResult::Output { output } => output.as_str().map_or_else(|| output.to_string(), str::to_owned),
        NodeResult::Error { message, .. } => message.clone(),
    }
}

fn attempt(retry: &ModelRetry) -> String {
    match retry.attempts {
        0 => format!("attempt {}", retry.attempt),
        attempts => format!("attempt {} of {attempts}", retry.attempt),
    }
}
