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
    Nothing,
    /// Be stricter than the user.
    Narrow(Narrower),
    /// Bring some of its own, which is carried beside the settings and off until a person trusts it.
    Bring,
}

/// Whether what would become of a setting is stricter than what the user has.
type Narrower = fn(user: Option<&Value>, wanted: &Value) -> bool;

const fn closed(key: &'static [&'static str], reason: &'static str) -> Reserved {
    Reserved { key, reason, leave: Leave::Nothing }
}

const fn brought(key: &'static [&'static str], reason: &'static str) -> Reserved {
    Reserved { key, reason, leave: Leave::Bring }
}

const fn narrowed(key: &'static [&'static str], reason: &'static str, narrower: Narrower) -> Reserved {
    Reserved { key, reason, leave: Leave::Narrow(narrower) }
}

const TIME: &str = "it decides how long something may take";
const BOX: &str = "it decides what commands may touch";
const CHECKS: &str = "it decides what is run";
const COST: &str = "it decides how much may be spent";

/// Every setting that is not taken from a repository: the one place to look at and to add to.
pub(crate) const RESERVED: &[Reserved] = &[
    closed(&["approval"], "it decides what happens without asking"),
    closed(&["approval_timeout"], TIME),
    closed(&["policy"], "it decides what happens without asking"),
    closed(&["roots"], "it decides which folders are open"),
    closed(&["model_providers"], "it decides where keys and code are sent"),
    closed(&["model"], "it decides where code is sent"),
    closed(&["model_groups"], "it decides where code is sent"),
    closed(&["models"], "it decides what a model may cost and see"),
    closed(&["network"], "it decides how models are reached"),
    closed(&["tools", "hidden_env"], "it decides which secrets commands see"),
    closed(&["tools", "shell"], "it decides which program runs commands"),
    closed(&["tools", "web_fetch"], "it decides what is reached"),
    closed(&["tools", "web_search"], "it decides where searches and keys go"),
    closed(&["tools", "diagnostics", "off"], CHECKS),
    closed(&["tools", "diagnostics", "checkers"], CHECKS),
    narrowed(&["tools", "diagnostics", "after_edits"], CHECKS, |_, wanted| *wanted != Value::Switch(true)),
    narrowed(&["tools", "diagnostics", "timeout"], TIME, no_more),
    narrowed(&["sandbox", "level"], BOX, no_freer_level),
    narrowed(&["sandbox", "network"], BOX, no_freer_network),
    narrowed(&["sandbox", "required"], BOX, |_, wanted| *wanted != Value::Switch(false)),
    closed(&["sandbox", "hosts"], BOX),
    closed(&["sandbox", "writable"], BOX),
    closed(&["sandbox", "readable"], BOX),
    // A repository could hide what a person wants to see, and gains nothing else by it.
    closed(&["sandbox", "hidden"], BOX),
    closed(&["sandbox", "unix_sockets"], BOX),
    brought(&["hooks"], "it decides what is run"),
    brought(&["mcp_servers"], "it decides what is run"),
    closed(&["scripted_tools"], "it decides what is run; its tools are files in .neco/tools"),
    closed(&["skills"], "it decides what the model is told"),
    closed(&["agents"], COST),
    closed(&["notifications"], "it decides what is run and where notices are sent"),
    closed(&["tui"], "it decides what is run and what keys do"),
    closed(&["memory"], "it decides what is kept and asked on your account"),
    closed(&["server"], "it decides which process works"),
    closed(&["checkpoints"], "it decides what can be undone"),
    narrowed(&["mode"], "it decides which tools there are", no_freer_mode),
    narrowed(&["tools", "only"], "it decides which tools there are", fewer_tools),
    narrowed(&["tools", "timeout"], TIME, no_more),
    narrowed(&["tools", "command_timeout"], TIME, no_more),
    narrowed(&["tools", "max_command_timeout"], TIME, no_more),
    narrowed(&["tools", "max_output_bytes"], COST, no_more),
    narrowed(&["agent", "max_turns"], COST, no_more),
    narrowed(&["agent", "max_cost"], COST, no_more),
    narrowed(&["agent", "max_tokens"], COST, no_more),
    narrowed(&["agent", "max_seconds"], COST, no_more),
    narrowed(&["agent", "generation"], "it decides which tools there are", no_more),
    closed(&["agent", "guards"], "it decides what watches the agent"),
    closed(&["context"], "it decides what the model is told"),
    narrowed(&["agent", "parallel_reads"], "it decides how busy the machine is", no_more),
];

/// Reserved settings that free nobody, whoever says them: which model is asked, what it is told, how long things take,
/// what may be spent and how a window behaves. Every other reserved setting frees whoever works in a folder, unless it
/// only narrows.
const FREES_NOBODY: &[&[&str]] = &[
    &["server"],
    &["model_providers"],
    &["model"],
    &["model_groups"],
    &["models"],
    &["network"],
    &["tools", "web_fetch", "timeout"],
    &["tools", "web_fetch", "max_bytes"],
    &["tools", "web_search"],
    &["tools", "diagnostics", "timeout"],
    &["agents"],
    &["tui"],
    &["memory"],
    &["mode"],
    &["approval_timeout"],
    &["tools", "timeout"],
    &["tools", "command_timeout"],
    &["tools", "max_command_timeout"],
    &["tools", "max_output_bytes"],
    &["agent", "max_turns"],
    &["agent", "max_cost"],
    &["agent", "max_tokens"],
    &["agent", "max_seconds"],
    &["agent", "generation"],
    &["context"],
    &["agent", "parallel_reads"],
];

/// What of the settings that are closed to a repository only narrows, when the user says it of a folder.
const NARROWS: &[(&[&str], Narrower)] = &[
    (&["approval"], |_, wanted| !is_one_of(wanted, &["auto", "accept_edits"])),
    (&["policy", "rules"], only_forbids_more),
    // Off, what other agents deny is no longer denied.
    (&["policy", "other_agents"], |_, wanted| is_one_of(wanted, &["narrow"])),
    (&["roots"], no_more_items),
    (&["tools", "hidden_env"], no_fewer_items),
    (&["tools", "web_fetch", "private_hosts"], no_more_items),
    (&["sandbox", "hosts"], no_more_items),
    (&["sandbox", "writable"], no_more_items),
    (&["sandbox", "readable"], no_more_items),
    (&["sandbox", "hidden"], no_fewer_items),
    (&["sandbox", "unix_sockets"], |_, wanted| *wanted != Value::Switch(true)),
];

/// Takes out of a layer what makes anything freer than what holds so far, and says which settings that were: what is said
/// of one folder must not free work in another one.
pub(crate) fn take_freeing(layer: &mut Node, so_far: &Node) -> Vec<Trail> {
    let mut rest = layer.clone();
    for key in FREES_NOBODY {
        rest.remove(key);
    }
    let widens = |key: &[&str], narrower: Narrower, wanted: &Node| {
        changes(key, wanted, so_far) && !is_narrower(narrower, key, wanted, so_far, so_far)
    };
    let mut freeing: Vec<Vec<String>> = Vec::new();
    for (key, narrower) in NARROWS {
        if rest.remove(key).is_some_and(|wanted| widens(key, *narrower, &wanted)) {
            freeing.push(key.iter().map(|name| (*name).to_owned()).collect());
        }
    }
    for reserved in RESERVED {
        let narrower = match reserved.leave {
            Leave::Nothing | Leave::Bring => |_: Option<&Value>, _: &Value| false,
            Leave::Narrow(narrower) => narrower,
        };
        if let Some(wanted) = rest.get(reserved.key).filter(|wanted| widens(reserved.key, narrower, wanted)) {
            // What narrows beside it stays.
            let below = reserved.key.iter().map(|name| (*name).to_owned()).collect();
            settings_below(wanted, below, &mut freeing);
        }
    }
    for key in &freeing {
        layer.remove(&key.iter().map(String::as_str).collect::<Vec<_>>());
    }
    freeing.iter().map(|key| Trail::of(key)).collect()
}

/// Adds the names of all settings in a node at `names`.
fn settings_below(node: &Node, names: Vec<String>, found: &mut Vec<Vec<String>>) {
    let Value::Table(entries) = &node.value else { return found.push(names) };
    if entries.is_empty() {
        found.push(names.clone());
    }
    for (name, entry) in entries {
        settings_below(entry, [&names[..], std::slice::from_ref(name)].concat(), found);
    }
}

/// Whether a setting becomes another one.
fn changes(key: &[&str], wanted: &Node, so_far: &Node) -> bool {
    let below = so_far.get(key).map_or_else(|| "{}".to_owned(), |below| below.value.to_string());
    result_of(key, wanted, so_far).value.to_string() != below
}

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
            Leave::Nothing | Leave::Bring => "ignored, a repository may not set this",
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
        Leave::Nothing | Leave::Bring => false,
        Leave::Narrow(narrower) => is_narrower(narrower, reserved.key, wanted, user, so_far),
    }
}

/// Whether what becomes of a setting is stricter than what the user has.
fn is_narrower(narrower: Narrower, key: &[&str], wanted: &Node, user: &Node, so_far: &Node) -> bool {
    narrower(user.get(key).map(|node| &node.value), &result_of(key, wanted, so_far).value)
}

/// What becomes of a setting.
fn result_of(key: &[&str], wanted: &Node, so_far: &Node) -> Node {
    let Some(below) = so_far.get(key) else { return settled(wanted.clone()) };
    let mut result = below.clone();
    merge(&mut result, wanted.clone());
    result
}

fn is_one_of(value: &Value, names: &[&str]) -> bool {
    matches!(value, Value::Text(text) if names.contains(&text.as_str()))
}

/// Rules that ask and deny, the user's own of that kind among them: a list replaces the one below it.
fn only_forbids_more(user: Option<&Value>, wanted: &Value) -> bool {
    let Value::List(rules) = wanted else { return false };
    let own = match user {
        Some(Value::List(own)) => own.as_slice(),
        _ => &[],
    };
    let forbids =
        |rule: &&Node| rule.get(&["decision"]).is_some_and(|ruling| is_one_of(&ruling.value, &["ask", "deny"]));
    // Where it was written is no part of what a rule says.
    let is_kept = |rule: &Node| rules.iter().any(|other| other.value.to_string() == rule.value.to_string());
    rules.iter().all(|rule| forbids(&rule)) && own.iter().filter(forbids).all(is_kept)
}

fn no_more_items(user: Option<&Value>, wanted: &Value) -> bool {
    has_all(user, wanted)
}

fn no_fewer_items(user: Option<&Value>, wanted: &Value) -> bool {
    user.is_none_or(|user| has_all(Some(wanted), user))
}

/// Whether every item of the second list is one of the first.
fn has_all(all: Option<&Value>, some: &Value) -> bool {
    let all = match all {
        Some(Value::List(all)) => all.as_slice(),
        _ => &[],
    };
    matches!(some, Value::List(some) if some.iter().all(|item| all.iter().any(|other| other.value == item.value)))
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
    let place = |value: &Value| {
        let Value::Text(text) = value else { return None };
        from_the_narrowest.iter().position(|name| name == text)
    };
    match (user.and_then(place), place(wanted)) {
        (Some(user), Some(wanted)) => wanted <= user,
        // A name that is none, or a user without a word of their own: only the narrowest is sure.
        (None, Some(wanted)) => wanted == 0,
        (_, None) => true,
    }
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
    fn what_frees_is_known_however_it_is_written() {
        let own = node(
            "{approval = 'ask_first', roots = ['~/a'], sandbox = {level = 'workspace_write', network = 'off', hidden = ['x']}}",
        );
        for (layer, is_free) in [
            ("{approval = 'auto'}", true),
            ("{approval = 'accept_edits'}", true),
            ("{approval = 'manual'}", false),
            ("{sandbox = {level = 'full'}}", true),
            ("{sandbox.level = 'read_only'}", false),
            ("{sandbox.network = 'on'}", true),
            ("{sandbox.writable = ['/']}", true),
            ("{sandbox.hidden = []}", true),
            ("{sandbox.hidden = ['x', 'y']}", false),
            ("{roots = ['/']}", true),
            ("{roots = []}", false),
            ("{policy.rules = [{tool = 'bash', decision = 'allow'}]}", true),
            ("{policy.rules = [{tool = 'bash', decision = 'deny'}]}", false),
            ("{mode = 'agent', model = 'x/y'}", false),
            ("{hooks.PermissionRequest = [{command = 'allow'}]}", true),
            ("{tools.shell = 'x'}", true),
            ("{tools.diagnostics.checkers.x = {command = 'x'}}", true),
            ("{agent.guards.loops = false}", true),
            ("{agent.max_turns = 900}", false),
            ("{policy = {}}", false),
            ("{policy.other_agents = 'narrow'}", false),
            ("{policy.other_agents = 'off'}", true),
            ("{policy.other_agents = 'all'}", true),
        ] {
            assert_eq!(!take_freeing(&mut node(layer), &own).is_empty(), is_free, "{layer}");
        }
        let denied = "{tool = 'bash', decision = 'deny'}";
        let allowed = "{tool = 'read_file', decision = 'allow'}";
        let own = node(&format!("{{policy = {{rules = [{denied}, {allowed}], other_agents = 'off'}}}}"));
        for (layer, is_free) in [
            ("{policy.rules = []}".to_owned(), true),
            ("{policy.rules = [{tool = 'web_fetch', decision = 'deny'}]}".to_owned(), true),
            (format!("{{policy.rules = [{{tool = 'web_fetch', decision = 'ask'}}, {denied}]}}"), false),
            (format!("{{policy.rules = [{denied}, {allowed}]}}"), false),
            ("{policy.other_agents = 'off'}".to_owned(), false),
        ] {
            assert_eq!(!take_freeing(&mut node(&layer), &own).is_empty(), is_free, "{layer}");
        }
        for key in FREES_NOBODY.iter().chain(NARROWS.iter().map(|(key, _)| key)) {
            let names: Vec<String> = key.iter().map(ToString::to_string).collect();
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
