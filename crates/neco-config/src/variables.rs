//! The environment as a layer: `NECO_MODEL`, `NECO_AGENT__MAX_TURNS`, `AGENT_MODEL_PLANNER`, and names that are no
//! settings.

use crate::derivation::DEEPEST;
use crate::env::Env;
use crate::flags::typed_value;
use crate::layer::Node;
use crate::notice::{Findings, Notice};
use crate::origin::{Layer, Origin, Source};
use crate::shape::{Shape, known};

/// What the names of settings begin with. Children's `NECO=1` does not.
const PREFIX: &str = "NECO_";

/// What the names of variables begin with that say which model an agent of a name asks.
const MODEL_OF_ROLE: &str = "AGENT_MODEL_";

/// Variables that begin like settings and are none, each with its meaning for the reference.
pub(crate) const NOT_SETTINGS: &[(&str, &str)] = &[
    (
        "AGENT_MODEL_NAME",
        "The model of agents of a name, such as `AGENT_MODEL_PLANNER`: the same as `agents.roles.planner.model`.",
    ),
    ("NECO_HOME", "The folder of configuration and data, instead of `~/.config/neco` and `~/.local/share/neco`."),
    ("NECO_LOG", "What is written to the log file, such as `debug` or `neco_model=trace`."),
    ("NECO_REAL_MODEL_URL", "An OpenAI-compatible server for the tests that want a real model."),
];

/// The settings of the environment, one tree each, sorted by name. An empty variable counts as not set.
pub(crate) fn layers(env: &Env, findings: &mut Findings) -> Vec<Node> {
    let settings = env.vars().filter_map(|(name, value)| {
        let name = name.to_str()?;
        let ignored = value.is_empty() || NOT_SETTINGS.iter().any(|(known, _)| *known == name);
        (!ignored).then_some((name, names(name)?, value.to_str()))
    });
    settings.filter_map(|(name, names, value)| setting(name, &names, value, findings)).collect()
}

/// The names of the setting that a variable is about, from the top.
fn names(variable: &str) -> Option<Vec<String>> {
    if let Some(role) = variable.strip_prefix(MODEL_OF_ROLE).filter(|role| !role.is_empty()) {
        return Some(vec!["agents".to_owned(), "roles".to_owned(), role.to_lowercase(), "model".to_owned()]);
    }
    let key = variable.strip_prefix(PREFIX).filter(|key| !key.is_empty())?;
    // Settings are not nested as deep, and a tree without a limit could not be dropped safely.
    Some(key.splitn(DEEPEST, "__").map(str::to_lowercase).collect())
}

fn setting(name: &str, names: &[String], value: Option<&str>, findings: &mut Findings) -> Option<Node> {
    let origin = Origin::new(Layer::Environment, Source::Variable(crate::trail::visible(name)));
    let Some(value) = value else {
        findings.warnings.push(Notice::about(&origin, "ignored, not UTF-8 text"));
        return None;
    };
    let shape = known().at(names);
    if names.len() == 1 && shape.is_some_and(Shape::is_table) {
        let message = format!("not a setting; those of this section are called {name}__…");
        findings.warnings.push(Notice::about(&origin, message));
        return None;
    }
    Some(typed_value(value, shape, &origin).below(names))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::check;

    #[test]
    fn variables_become_settings_or_warnings() {
        let cases: &[(&str, &str, &str, &[&str])] = &[
            ("NECO_MODEL", "a/b", "{ model = \"a/b\" }", &[]),
            ("NECO_MODEL", "5", "{ model = \"5\" }", &[]),
            ("NECO_AGENT__MAX_TURNS", "5", "{ agent = { max_turns = 5 } }", &[]),
            (
                "NECO_TOOLS__ONLY",
                "['a', '+b']",
                "{ tools = { only = [\"a\", \"+b\"] } }",
                &[
                    "NECO_TOOLS__ONLY: tools.only: items with and without \"+\": those without replace what other layers say",
                ],
            ),
            ("NECO_MODEL_PROVIDERS__X__LOCAL", "true", "{ model_providers = { x = { local = true } } }", &[]),
            ("NECO_MODEL", "", "", &[]),
            ("NECO_HOME", "/x", "", &[]),
            ("NECO_LOG", "debug", "", &[]),
            ("NECO", "1", "", &[]),
            ("NECO_", "1", "", &[]),
            ("MODEL", "1", "", &[]),
            ("AGENT_MODEL_PLANNER", "a/b", "{ agents = { roles = { planner = { model = \"a/b\" } } } }", &[]),
            ("AGENT_MODEL_", "a/b", "", &[]),
            ("AGENT_MODEL_CODER", "", "", &[]),
            ("NECO_TOOLS", "1", "", &["NECO_TOOLS: not a setting; those of this section are called NECO_TOOLS__…"]),
            ("NECO_MODLE", "x", "{}", &["NECO_MODLE: modle: unknown setting; did you mean `model`?"]),
            (
                "NECO_AGENT__MAX_TURN",
                "5",
                "{ agent = {} }",
                &["NECO_AGENT__MAX_TURN: agent.max_turn: unknown setting; did you mean `agent.max_turns`?"],
            ),
        ];
        for (name, value, expected, warned) in cases {
            let mut findings = Findings::default();
            let mut nodes = layers(&Env::for_test([(*name, *value)], "/h"), &mut findings);
            nodes.iter_mut().for_each(|node| check(node, known(), &mut findings));
            let trees: Vec<String> = nodes.iter().map(|node| node.value.to_string()).collect();
            assert_eq!(trees.concat(), *expected, "{name}={value}");
            let warnings: Vec<String> = findings.warnings.iter().map(ToString::to_string).collect();
            assert_eq!(&warnings, warned, "{name}={value}");
        }
    }
}
