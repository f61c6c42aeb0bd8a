//! The common format of hook files: `{"hooks": {EVENT: [{"matcher", "hooks": [{"type", "command", "timeout"}]}]}}`.
//!
//! Read as leniently as others do: what can't be understood is told and left out, and never keeps
//! the rest from working.

use neco_proto::event::HookEvent;
use serde_json::Value;

use super::hook::{Hook, Origin, seconds};
use super::matcher::Matcher;

/// The hooks of a settings file, and what is to be said about it.
pub fn parse(text: &[u8], origin: &Origin) -> (Vec<Hook>, Vec<String>) {
    let mut reading = Reading { origin, hooks: Vec::new(), notices: Vec::new() };
    match serde_json::from_slice::<Value>(strip_mark(text)) {
        Ok(settings) => reading.settings(&settings),
        Err(error) => reading.say(&format!("it is not JSON: {error}")),
    }
    (reading.hooks, reading.notices)
}

/// Some editors begin a file with a mark of its encoding.
fn strip_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

struct Reading<'a> {
    origin: &'a Origin,
    hooks: Vec<Hook>,
    notices: Vec<String>,
}

impl Reading<'_> {
    fn say(&mut self, words: &str) {
        self.notices.push(format!("File {}: {words}", self.origin.file().display()));
    }

    fn settings(&mut self, settings: &Value) {
        if settings.get("disableAllHooks").and_then(Value::as_bool) == Some(true) {
            return;
        }
        let events = match settings.get("hooks") {
            None | Some(Value::Null) => return,
            Some(Value::Object(events)) => events,
            Some(_) => return self.say("\"hooks\" is not an object"),
        };
        for (name, groups) in events {
            let Some(event) = HookEvent::named(name) else {
                self.say(&format!("the event {name:?} is not known; its hooks never run"));
                continue;
            };
            let Value::Array(groups) = groups else {
                self.say(&format!("{name} is not a list"));
                continue;
            };
            groups.iter().for_each(|group| self.group(event, group));
        }
    }

    fn group(&mut self, event: HookEvent, group: &Value) {
        let matcher = match group.get("matcher") {
            None | Some(Value::Null) => Matcher::new(""),
            Some(Value::String(pattern)) => Matcher::new(pattern),
            Some(_) => return self.say(&format!("{event}: a matcher is not a string")),
        };
        let matcher = match matcher {
            Ok(matcher) => matcher,
            Err(error) => return self.say(&format!("{event}: {error}")),
        };
        match group.get("hooks") {
            Some(Value::Array(hooks)) => hooks.iter().for_each(|hook| self.hook(event, &matcher, hook)),
            Some(_) | None => self.say(&format!("{event}: a group without a list of \"hooks\"")),
        }
    }

    fn hook(&mut self, event: HookEvent, matcher: &Matcher, hook: &Value) {
        let kind = hook.get("type").and_then(Value::as_str).unwrap_or("command");
        if kind != "command" {
            return self.say(&format!("{event}: hooks of type {kind:?} are not supported"));
        }
        let command = hook.get("command").and_then(Value::as_str).filter(|command| !command.trim().is_empty());
        let Some(command) = command else { return self.say(&format!("{event}: a hook without a command")) };
        self.hooks.push(Hook {
            event,
            matcher: matcher.clone(),
            command: command.to_owned(),
            timeout: hook.get("timeout").and_then(Value::as_f64).and_then(seconds),
            origin: self.origin.clone(),
            trusted_as: None,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> (Vec<Hook>, Vec<String>) {
        parse(text.as_bytes(), &Origin::User { file: "s.json".into() })
    }

    #[test]
    fn the_common_format_is_read() {
        let (hooks, notices) = read(
            r#"{"model": "x", "hooks": {
              "PreToolUse": [
                {"matcher": "Bash|Edit", "hooks": [{"type": "command", "command": "a", "timeout": 5},
                                                   {"type": "command", "command": "b"}]},
                {"hooks": [{"command": "c", "timeout": 0.5}]}],
              "Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "d"}]}]}}"#,
        );
        assert!(notices.is_empty(), "{notices:?}");
        let said: Vec<_> = hooks
            .iter()
            .map(|hook| (hook.event.name(), hook.matcher.pattern(), hook.command.as_str(), hook.limit().as_millis()))
            .collect();
        assert_eq!(
            said,
            [
                ("PreToolUse", "Bash|Edit", "a", 5000),
                ("PreToolUse", "Bash|Edit", "b", 60_000),
                ("PreToolUse", "", "c", 500),
                ("Stop", "", "d", 60_000)
            ]
        );
    }

    #[test]
    fn what_is_wrong_is_told_and_the_rest_works() {
        let (hooks, notices) = read(
            r#"{"hooks": {"Nope": [], "Stop": 5, "PreToolUse": [
                {"matcher": "(", "hooks": [{"command": "x"}]}, {"matcher": 3, "hooks": []}, {"matcher": "a"},
                {"hooks": [{"type": "prompt", "prompt": "y"}, {"command": " "}, {"type": "command"}, {"command": "good"}]}]}}"#,
        );
        assert_eq!(hooks.len(), 1);
        assert_eq!(notices.len(), 8, "{notices:#?}");
        assert!(notices.iter().all(|notice| notice.starts_with("File s.json: ")));
        assert_eq!(read("{").1.len(), 1);
        assert_eq!(read("{\"hooks\": []}").1.len(), 1);
        assert!(read("[1]").1.is_empty());
        let (hooks, _) = read(r#"{"disableAllHooks": true, "hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}}"#);
        assert!(hooks.is_empty());
        assert_eq!(read("\u{feff}{\"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": \"x\"}]}]}}").0.len(), 1);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_harm(text in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&text, &Origin::User { file: "s".into() });
        }
    }
}
