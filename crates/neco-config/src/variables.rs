//! The environment as a layer: `NECO_MODEL`, `NECO_AGENT__MAX_TURNS`, and names that are no settings.

use crate::env::Env;
use crate::flags::typed_value;
use crate::layer::Node;
use crate::notice::{Findings, Notice};
use crate::origin::{Layer, Origin, Source};
use crate::shape::{DEEPEST, Shape, known};

/// What the names of settings begin with. Children's `NECO=1` does not.
const PREFIX: &str = "NECO_";

/// Variables that begin like settings and are none, each with its meaning for the reference.
pub(crate) const NOT_SETTINGS: &[(&str, &str)] = &[
    ("NECO_HOME", "The folder of configuration and data, instead of `~/.config/neco` and `~/.local/share/neco`."),
    ("NECO_LOG", "What is written to the log file, such as `debug` or `neco_model=trace`."),
    ("NECO_REAL_MODEL_URL", "An OpenAI-compatible server for the tests that want a real model."),
];

/// The settings of the environment, one tree each, sorted by name. An empty variable counts as not set.
pub(crate) fn layers(env: &Env, findings: &mut Findings) -> Vec<Node> {
    let settings = env.vars().filter_map(|(name, value)| {
        let name = name.to_str()?;
        let key = name.strip_prefix(PREFIX).filter(|key| !key.is_empty())?;
        let ignored = value.is_empty() || NOT_SETTINGS.iter().any(|(known, _)| *known == name);
        (!ignored).then_some((name, key, value.to_str()))
    });
    settings.filter_map(|(name, key, value)| setting(name, key, value, findings)).collect()
}

fn setting(name: &str, key: &str, value: Option<&str>, findings: &mut Findings) -> Option<Node> {
    let origin = Origin::new(Layer::Environment, Source::Variable(crate::trail::visible(name)));
    let Some(value) = value else {
        findings.warnings.push(Notice::about(&origin, "ignored, not UTF-8 text"));
        return None;
    };
    // Settings are not nested as deep, and a tree without a limit could not be dropped safely.
    let names: Vec<String> = key.splitn(DEEPEST, "__").map(str::to_lowercase).collect();
    let shape = known().at(&names);
    if names.len() == 1 && shape.is_some_and(Shape::is_table) {
        let message = format!("not a setting; those of this section are called {name}__…");
        findings.warnings.push(Notice::about(&origin, message));
        return None;
    }
    Some(typed_value(value, shape, &origin).below(&names))
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
