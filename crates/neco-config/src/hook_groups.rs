//! Hooks as other agents write them down, in our TOML: what is under `hooks` in one `[[hooks.EVENT]]` are several
//! hooks with the same matcher.

use crate::layer::{Node, Value};
use crate::notice::{Findings, Notice};
use crate::origin::Origin;
use crate::trail::Trail;

/// The only kind of hook that there is.
const COMMAND: &str = "command";

/// Makes of every group of hooks in a layer the hooks that it means.
pub(crate) fn take_apart(layer: &mut Node, findings: &mut Findings) {
    let Value::Table(settings) = &mut layer.value else { return };
    let Some(Value::Table(events)) = settings.get_mut("hooks").map(|hooks| &mut hooks.value) else { return };
    for (event, node) in events {
        let trail = Trail::default().child("hooks").child(event);
        if let Value::List(entries) = &mut node.value {
            let all = std::mem::take(entries).into_iter();
            *entries = all.flat_map(hooks_of).filter_map(|hook| command_of(hook, &trail, findings)).collect();
        }
    }
}

/// What the hooks of a group have from it.
const SHARED: [&str; 2] = ["matcher", "timeout"];

/// The hooks of an entry: itself, where it has a command or is no group, and those in its group.
fn hooks_of(mut entry: Node) -> Vec<Node> {
    let Some(Node { value: Value::List(group), .. }) = entry.get(&["hooks"]) else { return vec![entry] };
    let mut group = group.clone();
    entry.remove(&["hooks"]);
    for hook in &mut group {
        let Value::Table(own) = &mut hook.value else { continue };
        for name in SHARED {
            if let Some(shared) = entry.get(&[name]) {
                own.entry(name.to_owned()).or_insert_with(|| shared.clone());
            }
        }
    }
    let is_one = group.is_empty() || entry.get(&[COMMAND]).is_some();
    is_one.then_some(entry).into_iter().chain(group).collect()
}

/// A hook without the word that says that it is a command; nothing, which is told, if it is something else.
fn command_of(mut hook: Node, trail: &Trail, findings: &mut Findings) -> Option<Node> {
    let mut left_out = |origin: &Origin, message: &str| {
        findings.warnings.push(Notice::about_key(origin, trail, format!("left out: {message}")));
        None
    };
    match hook.remove(&["type"]) {
        Some(Node { value: Value::Text(kind), .. }) if kind == COMMAND => {}
        Some(other) => return left_out(&other.origin, "only hooks of type \"command\" exist"),
        None => {}
    }
    let is_table = matches!(hook.value, Value::Table(_));
    if is_table && hook.get(&[COMMAND]).is_none() {
        return left_out(&hook.origin, "a hook needs a command");
    }
    Some(hook)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::check;
    use crate::decode::decode;
    use crate::layer::parse;
    use crate::origin::{Layer, Source};
    use crate::section::HooksSection;
    use crate::shape::known;

    fn read(text: &str) -> (HooksSection, Vec<String>) {
        let mut layer = parse(text, &Origin::new(Layer::User, Source::BuiltIn)).unwrap();
        let mut findings = Findings::default();
        take_apart(&mut layer, &mut findings);
        check(&mut layer, known(), &mut findings);
        let said = findings.problems.iter().chain(&findings.warnings).map(|notice| notice.message.clone());
        (decode(&layer).unwrap().hooks, said.collect())
    }

    #[test]
    fn a_group_is_the_hooks_in_it_with_its_matcher() {
        let grouped = "[[hooks.PreToolUse]]\nmatcher = 'Bash'\nhooks = [\n{ type = 'command', command = 'a', timeout = 5 },\n\
                       { command = 'b', matcher = 'Edit' },\n]\n[[hooks.PreToolUse]]\ntype = 'command'\ncommand = 'c'\n";
        let flat = "[[hooks.PreToolUse]]\nmatcher = 'Bash'\ncommand = 'a'\ntimeout = 5\n[[hooks.PreToolUse]]\n\
                    matcher = 'Edit'\ncommand = 'b'\n[[hooks.PreToolUse]]\ncommand = 'c'\n";
        assert_eq!(read(grouped), read(flat));
        assert_eq!(read(grouped).0.pre_tool_use.len(), 3);
        assert_eq!(read(grouped).1, Vec::<String>::new());
    }

    #[test]
    fn what_is_no_command_is_left_out_and_told() {
        let text = "[[hooks.Stop]]\nhooks = [{ type = 'prompt', prompt = 'x' }, { type = 'command', command = 'a' }]\n";
        let (hooks, said) = read(text);
        assert_eq!((hooks.stop.len(), hooks.stop[0].command.as_str()), (1, "a"));
        assert!(said.len() == 1 && said[0].contains("only hooks of type"), "{said:?}");
        let (hooks, said) = read("[[hooks.Stop]]\nhooks = 'x'\n");
        assert!(hooks.stop.is_empty() && said == ["left out: a hook needs a command"], "{said:?}");
        assert_eq!(read("hooks = 3\n").1.len(), 1);
        let (hooks, said) = read("[[hooks.Stop]]\nmatcher = 'x'\nhooks = []\n");
        assert!(hooks.stop.is_empty() && said.len() == 1, "{said:?}");
        let (hooks, said) = read("[[hooks.Stop]]\ncommand = 'guard'\nhooks = [{ command = 'a' }, { timeout = 3 }]\n");
        let commands: Vec<&str> = hooks.stop.iter().map(|hook| hook.command.as_str()).collect();
        assert!(commands == ["guard", "a"] && said.len() == 1, "{commands:?} {said:?}");
    }
}
