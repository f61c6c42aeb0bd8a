//! What a repository may not decide about the machine that opens it.
//!
//! Cloning a repository is no sign of trust, so its layers must not make the agent freer, send keys
//! elsewhere, or choose what runs. Such settings are ignored with a warning, never an error: the
//! repository stays usable.

use crate::layer::{Node, Value};
use crate::merge::{merge, settled};
use crate::notice::{Findings, Notice};
use crate::trail::Trail;

/// A setting that is not taken from a repository.
pub(crate) struct Reserved {
    /// Its names from the top; everything below is meant too.
    pub(crate) key: &'static [&'static str],
    /// What it could be used for.
    pub(crate) reason: &'static str,
    /// What a repository may do all the same.
    pub(crate) leave: Leave,
}

/// What a repository may do with a reserved setting.
pub(crate) enum Leave {
    /// Nothing.
    Nothing,
    /// Be stricter than the user: called with what the user has and what it would become.
    Narrow(fn(user: Option<&Value>, wanted: &Value) -> bool),
}

const TIME: &str = "it decides how long something may take";
const BOX: &str = "it decides what commands may touch";
const CHECKS: &str = "it decides what is run";
const COST: &str = "it decides how much may be spent";

/// Every setting that is not taken from a repository: the one place to look at and to add to.
pub(crate) const RESERVED: &[Reserved] = &[
    Reserved { key: &["approval"], reason: "it decides what happens without asking", leave: Leave::Nothing },
    Reserved { key: &["policy"], reason: "it decides what happens without asking", leave: Leave::Nothing },
    Reserved { key: &["roots"], reason: "it decides which folders are open", leave: Leave::Nothing },
    Reserved { key: &["model_providers"], reason: "it decides where keys and code are sent", leave: Leave::Nothing },
    Reserved { key: &["model"], reason: "it decides where code is sent", leave: Leave::Nothing },
    Reserved { key: &["model_groups"], reason: "it decides where code is sent", leave: Leave::Nothing },
    Reserved { key: &["models"], reason: "it decides what a model may cost and see", leave: Leave::Nothing },
    Reserved { key: &["network"], reason: "it decides how models are reached", leave: Leave::Nothing },
    Reserved { key: &["tools", "hidden_env"], reason: "it decides which secrets commands see", leave: Leave::Nothing },
    Reserved { key: &["tools", "shell"], reason: "it decides which program runs commands", leave: Leave::Nothing },
    Reserved { key: &["tools", "web_fetch"], reason: "it decides what is reached", leave: Leave::Nothing },
    Reserved { key: &["tools", "web_search"], reason: "it decides where searches and keys go", leave: Leave::Nothing },
    Reserved { key: &["tools", "diagnostics", "off"], reason: CHECKS, leave: Leave::Nothing },
    Reserved { key: &["tools", "diagnostics", "checkers"], reason: CHECKS, leave: Leave::Nothing },
    Reserved { key: &["tools", "diagnostics", "after_edits"], reason: CHECKS, leave: Leave::Narrow(stays_off) },
    Reserved { key: &["tools", "diagnostics", "timeout"], reason: TIME, leave: Leave::Narrow(no_more) },
    Reserved { key: &["sandbox", "level"], reason: BOX, leave: Leave::Narrow(no_freer_level) },
    Reserved { key: &["sandbox", "network"], reason: BOX, leave: Leave::Narrow(no_freer_network) },
    Reserved { key: &["sandbox", "required"], reason: BOX, leave: Leave::Narrow(stays_required) },
    Reserved { key: &["sandbox", "hosts"], reason: BOX, leave: Leave::Nothing },
    Reserved { key: &["sandbox", "writable"], reason: BOX, leave: Leave::Nothing },
    Reserved { key: &["sandbox", "readable"], reason: BOX, leave: Leave::Nothing },
    // A repository could hide what a person wants to see, and gains nothing else by it.
    Reserved { key: &["sandbox", "hidden"], reason: BOX, leave: Leave::Nothing },
    Reserved { key: &["sandbox", "unix_sockets"], reason: BOX, leave: Leave::Nothing },
    Reserved { key: &["hooks"], reason: "it decides what is run", leave: Leave::Nothing },
    Reserved { key: &["agents"], reason: COST, leave: Leave::Nothing },
    Reserved { key: &["tui"], reason: "it decides what is run and what keys do", leave: Leave::Nothing },
    Reserved { key: &["memory"], reason: "it decides what is kept and asked on your account", leave: Leave::Nothing },
    Reserved { key: &["checkpoints"], reason: "it decides what can be undone", leave: Leave::Nothing },
    Reserved { key: &["mode"], reason: "it decides which tools there are", leave: Leave::Narrow(no_freer_mode) },
    Reserved { key: &["tools", "only"], reason: "it decides which tools there are", leave: Leave::Narrow(fewer_tools) },
    Reserved { key: &["tools", "timeout"], reason: TIME, leave: Leave::Narrow(no_more) },
    Reserved { key: &["tools", "command_timeout"], reason: TIME, leave: Leave::Narrow(no_more) },
    Reserved { key: &["tools", "max_command_timeout"], reason: TIME, leave: Leave::Narrow(no_more) },
    Reserved { key: &["tools", "max_output_bytes"], reason: COST, leave: Leave::Narrow(no_more) },
    Reserved { key: &["agent", "max_turns"], reason: COST, leave: Leave::Narrow(no_more) },
    Reserved { key: &["agent", "max_cost"], reason: COST, leave: Leave::Narrow(no_more) },
    Reserved { key: &["agent", "max_tokens"], reason: COST, leave: Leave::Narrow(no_more) },
    Reserved { key: &["agent", "max_seconds"], reason: COST, leave: Leave::Narrow(no_more) },
    Reserved {
        key: &["agent", "generation"],
        reason: "it decides which tools there are",
        leave: Leave::Narrow(no_more),
    },
    Reserved { key: &["agent", "guards"], reason: "it decides what watches the agent", leave: Leave::Nothing },
    Reserved { key: &["context"], reason: "it decides what the model is told", leave: Leave::Nothing },
    Reserved {
        key: &["agent", "parallel_reads"],
        reason: "it decides how busy the machine is",
        leave: Leave::Narrow(no_more),
    },
];

/// Takes out of a repository's layer what it may not decide.
///
/// `user` is what holds without any repository, `so_far` what holds below this layer, and
/// `user_file` where the setting could be put instead.
pub(crate) fn strip(layer: &mut Node, user: &Node, so_far: &Node, user_file: &str, findings: &mut Findings) {
    for reserved in RESERVED {
        let Some(wanted) = layer.get(reserved.key) else { continue };
        if allowed(reserved, wanted, user, so_far) {
            continue;
        }
        let trail = Trail::of(reserved.key);
        let message = match reserved.leave {
            Leave::Nothing => "ignored, a repository may not set this",
            Leave::Narrow(_) => "ignored, a repository may only narrow this",
        };
        let instead = format!("put it into {user_file} or pass `-c {trail}=…`");
        let message = format!("{message}: {}; {instead}", reserved.reason);
        findings.warnings.push(Notice::about_key(&wanted.name_origin, &trail, message));
        layer.remove(reserved.key);
    }
}

fn allowed(reserved: &Reserved, wanted: &Node, user: &Node, so_far: &Node) -> bool {
    match reserved.leave {
        Leave::Nothing => false,
        Leave::Narrow(narrower) => {
            let mut result = settled(wanted.clone());
            if let Some(below) = so_far.get(reserved.key) {
                result = below.clone();
                merge(&mut result, wanted.clone());
            }
            narrower(user.get(reserved.key).map(|node| &node.value), &result.value)
        }
    }
}

/// `ask` does less than `plan`, and that less than `agent`.
fn no_freer_mode(user: Option<&Value>, wanted: &Value) -> bool {
    let freedom = |mode: &Value| match mode {
        Value::Text(text) if text == "ask" => Some(0),
        Value::Text(text) if text == "plan" => Some(1),
        Value::Text(_) => Some(2),
        // Another type than a string is the check's to refuse.
        Value::Table(_) | Value::List(_) | Value::Whole(_) | Value::Number(_) | Value::Switch(_) | Value::Date(_) => {
            None
        }
    };
    freedom(wanted).is_none_or(|wanted| user.and_then(freedom).is_none_or(|user| wanted <= user))
}

/// Levels from the narrowest. Another type than a string is the check's to refuse.
fn no_freer_level(user: Option<&Value>, wanted: &Value) -> bool {
    no_freer(&["read_only", "workspace_write", "full"], user, wanted)
}

fn no_freer_network(user: Option<&Value>, wanted: &Value) -> bool {
    no_freer(&["off", "on"], user, wanted)
}

fn no_freer(from_the_narrowest: &[&str], user: Option<&Value>, wanted: &Value) -> bool {
    let place = |value: &Value| match value {
        Value::Text(text) => from_the_narrowest.iter().position(|name| name == text),
        Value::Table(_) | Value::List(_) | Value::Whole(_) | Value::Number(_) | Value::Switch(_) | Value::Date(_) => {
            None
        }
    };
    match (user.and_then(place), place(wanted)) {
        (Some(user), Some(wanted)) => wanted <= user,
        // A name that is none, or a user without a word of their own: only the narrowest is sure.
        (None, Some(wanted)) => wanted == 0,
        (_, None) => true,
    }
}

fn stays_required(_user: Option<&Value>, wanted: &Value) -> bool {
    *wanted != Value::Switch(false)
}

fn stays_off(_user: Option<&Value>, wanted: &Value) -> bool {
    *wanted != Value::Switch(true)
}

/// Without a number of the user's there is no limit yet.
fn no_more(user: Option<&Value>, wanted: &Value) -> bool {
    let number = |value: &Value| match value {
        Value::Whole(number) => Some(*number as f64),
        Value::Number(number) => Some(*number),
        Value::Table(_) | Value::List(_) | Value::Text(_) | Value::Switch(_) | Value::Date(_) => None,
    };
    match (user.and_then(number), number(wanted)) {
        (Some(user), Some(wanted)) => wanted <= user,
        // Another type than a number is the check's to refuse.
        (None, _) | (_, None) => true,
    }
}

/// An empty list means all tools.
fn fewer_tools(user: Option<&Value>, wanted: &Value) -> bool {
    match (user, wanted) {
        (Some(Value::List(user)), Value::List(wanted)) if !user.is_empty() => {
            let known = |item: &Node| user.iter().any(|tool| tool.value == item.value);
            !wanted.is_empty() && wanted.iter().all(known)
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::parse_value;
    use crate::origin::{Layer, Origin, Source};
    use crate::shape::known;

    fn node(text: &str) -> Node {
        parse_value(text, &Origin::new(Layer::Project, Source::Variable("repo".into())))
    }

    fn stripped(user: &str, layer: &str) -> (String, Vec<String>) {
        let (user, mut layer) = (node(user), node(layer));
        let mut findings = Findings::default();
        strip(&mut layer, &user, &user, "~/c.toml", &mut findings);
        (layer.value.to_string(), findings.warnings.iter().filter_map(|warning| warning.key.clone()).collect())
    }

    #[test]
    fn every_reserved_setting_exists() {
        for reserved in RESERVED {
            let names: Vec<String> = reserved.key.iter().map(ToString::to_string).collect();
            assert!(known().at(&names).is_some(), "{names:?}");
        }
    }

    #[test]
    fn what_could_widen_is_taken_out_and_the_rest_stays() {
        for (user, layer, left, warned) in [
            ("{}", "{approval = 'auto', agent.max_turns = 1}", "{ agent = { max_turns = 1 } }", &["approval"][..]),
            (
                "{}",
                "{model = 'x', models = {}, model_groups = {}, network.retries = 1}",
                "{}",
                &["model", "model_groups", "models", "network"],
            ),
            ("{agent.max_turns = 5}", "{agent.max_turns = 5}", "{ agent = { max_turns = 5 } }", &[]),
            ("{agent.max_turns = 5}", "{agent.max_turns = 6}", "{ agent = {} }", &["agent.max_turns"]),
            ("{agent.max_turns = 5}", "{agent.max_turns = nan}", "{ agent = {} }", &["agent.max_turns"]),
            ("{agent.max_turns = 5}", "{agent.max_turns = 'x'}", "{ agent = { max_turns = \"x\" } }", &[]),
            ("{}", "{agent.max_cost = 2.5}", "{ agent = { max_cost = 2.5 } }", &[]),
            ("{agent.max_cost = 1}", "{agent.max_cost = 2.5}", "{ agent = {} }", &["agent.max_cost"]),
            (
                "{tools.max_output_bytes = 2000}",
                "{tools.max_output_bytes = 9000}",
                "{ tools = {} }",
                &["tools.max_output_bytes"],
            ),
            ("{}", "{approval = 'manual'}", "{}", &["approval"]),
            ("{}", "{model_providers.x.base = 'http://evil'}", "{}", &["model_providers"]),
            ("{}", "{model_providers = 5}", "{}", &["model_providers"]),
            (
                "{}",
                "{tools = {hidden_env = [], shell = 'x', timeout = 1}}",
                "{ tools = { timeout = 1 } }",
                &["tools.hidden_env", "tools.shell"],
            ),
            ("{mode = 'agent'}", "{mode = 'ask'}", "{ mode = \"ask\" }", &[]),
            ("{mode = 'agent'}", "{mode = 'agent'}", "{ mode = \"agent\" }", &[]),
            ("{mode = 'ask'}", "{mode = 'agent'}", "{}", &["mode"]),
            ("{mode = 'agent'}", "{mode = 'plan'}", "{ mode = \"plan\" }", &[]),
            ("{mode = 'ask'}", "{mode = 'plan'}", "{}", &["mode"]),
            ("{mode = 'plan'}", "{mode = 'agent'}", "{}", &["mode"]),
            (
                "{sandbox = {level = 'workspace_write', network = 'off'}}",
                "{sandbox = {level = 'full', network = 'on', required = false, hosts = ['a'], writable = ['~']}}",
                "{ sandbox = {} }",
                &["sandbox.level", "sandbox.network", "sandbox.required", "sandbox.hosts", "sandbox.writable"],
            ),
            (
                "{sandbox = {level = 'full', network = 'on'}}",
                "{sandbox = {level = 'read_only', network = 'off', required = true}}",
                "{ sandbox = { level = \"read_only\", network = \"off\", required = true } }",
                &[],
            ),
            (
                "{}",
                "{sandbox = {level = 'workspace_write', readable = [], hidden = [], unix_sockets = true}}",
                "{ sandbox = {} }",
                &["sandbox.level", "sandbox.readable", "sandbox.hidden", "sandbox.unix_sockets"],
            ),
            ("{}", "{mode = 5}", "{ mode = 5 }", &[]),
            ("{tools.only = []}", "{tools.only = ['a']}", "{ tools = { only = [\"a\"] } }", &[]),
            ("{tools.only = ['a', 'b']}", "{tools.only = ['a']}", "{ tools = { only = [\"a\"] } }", &[]),
            ("{tools.only = ['a', 'b']}", "{tools.only = ['c']}", "{ tools = {} }", &["tools.only"]),
            ("{tools.only = ['a', 'b']}", "{tools.only = ['+c']}", "{ tools = {} }", &["tools.only"]),
            ("{tools.only = ['a', 'b']}", "{tools.only = []}", "{ tools = {} }", &["tools.only"]),
        ] {
            let (tree, keys) = stripped(user, layer);
            assert_eq!((tree.as_str(), keys), (left, warned.iter().map(ToString::to_string).collect()), "{layer}");
        }
    }
}
