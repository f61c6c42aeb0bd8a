//! Hooks in the common format, under the names that agents have for their moments.

use neco_proto::app::setups::SetupKind;
use neco_proto::event::HookEvent;
use serde_json::{Map, Value};

use super::piece::{Level, NewHook, Take};
use super::reading::{HOLDS_KEY, Reading, Source};
use super::{references, taken};

/// What a hook of another agent has to be looked at for.
const LOOK: &str = "it reads Neco's JSON now, which has the same fields; look at it once";

/// Why a hook of another kind is not taken.
pub(super) const NO_COMMAND: &str = "only hooks that are commands are supported";

/// Moments of Gemini CLI.
const MOMENTS: &[(&str, HookEvent)] = &[
    ("BeforeTool", HookEvent::PreToolUse),
    ("AfterTool", HookEvent::PostToolUse),
    ("BeforeAgent", HookEvent::UserPromptSubmit),
    ("AfterAgent", HookEvent::Stop),
    ("PreCompress", HookEvent::PreCompact),
];

/// Adds the hooks of `{EVENT: [{"matcher", "hooks": [{"type", "command", "timeout"}]}]}`; `per_second` is how many units
/// of a time-out are a second.
pub(super) fn add(reading: &mut Reading, events: Map<String, Value>, from: Source<'_>, per_second: f64) {
    for (name, groups) in events {
        let moment = MOMENTS.iter().find(|(theirs, _)| *theirs == name).map(|(_, event)| *event);
        let (event, groups) = match (moment.or_else(|| HookEvent::named(&name)), groups) {
            (Some(event), Value::Array(groups)) => (event, groups),
            (_, groups) => {
                let words = if groups.is_array() { "Neco has no such moment" } else { "it is no list of hooks" };
                reading.refuse(SetupKind::Hook, name, from, words);
                continue;
            }
        };
        for mut group in groups {
            let matcher = taken::text(&mut group, "matcher").filter(|matcher| matcher != "*").unwrap_or_default();
            let Some(Value::Array(hooks)) = taken::any(&mut group, "hooks") else {
                reading.refuse(SetupKind::Hook, event.to_string(), from, "it has no list of hooks");
                continue;
            };
            let others = taken::without(&group);
            for hook in hooks {
                one(reading, (event, &matcher), hook, (from, per_second), others.clone());
            }
        }
    }
}

fn one(
    reading: &mut Reading,
    (event, matcher): (HookEvent, &str),
    mut hook: Value,
    (from, per_second): (Source<'_>, f64),
    others: Option<String>,
) {
    let kind = taken::text(&mut hook, "type");
    let command = taken::text(&mut hook, "command").filter(|_| kind.is_none_or(|kind| kind == "command"));
    let Some(command) = command else {
        return reading.refuse(SetupKind::Hook, event.to_string(), from, NO_COMMAND);
    };
    let name = format!("{event} {}", references::shown(&command));
    if from.level == Level::Project {
        let words = "a project's hooks are in .claude/settings.json or .neco/hooks.json; copy it there";
        return reading.leave(SetupKind::Hook, name, from, words);
    }
    if references::holds_secret(&command) {
        return reading.leave(SetupKind::Hook, name, from, HOLDS_KEY);
    }
    let timeout = taken::number(&mut hook, "timeout").map(|time| time / per_second);
    let words = std::iter::once(LOOK.to_owned()).chain(others).chain(taken::without(&hook)).collect();
    let take = Take::Hook(NewHook { event, matcher: matcher.to_owned(), command, timeout });
    reading.add(SetupKind::Hook, name, from, take, words);
}
