//! Cases that a person checks their rules with: a call, and what is expected of it.

use neco_proto::{ApprovalMode, Mode};
use serde_json::Value;

use super::fields::{Fields, Problem, Table, parse};
use super::read::{APPROVALS, MODES, RULINGS};
use super::rule::Ruling;

/// One case.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Where it is written.
    pub place: String,
    /// What it is called.
    pub name: Option<String>,
    /// The tool, aliases included.
    pub tool: String,
    /// The arguments.
    pub args: Value,
    /// What is expected.
    pub expect: Ruling,
    /// The mode, if the case says.
    pub mode: Option<Mode>,
    /// The approval mode, if the case says.
    pub approval: Option<ApprovalMode>,
    /// Whether there is a person to ask; there is, unless the case says otherwise.
    pub person: bool,
}

/// Reads a file of `[[case]]` tables.
/// The error is everything that is wrong with it.
pub fn read_cases(text: &str, file: &str) -> Result<Vec<Case>, Vec<Problem>> {
    let root = parse(text, file).map_err(|problem| vec![problem])?;
    let mut cases = Vec::new();
    let mut problems = Vec::new();
    for entry in root.entries {
        if entry.name != "case" || entry.tables.is_empty() {
            let message = format!("there is no section {:?} in a file of cases; cases are [[case]] tables", entry.name);
            problems.push(Problem { place: entry.place, message });
            continue;
        }
        for table in entry.tables {
            match case(table) {
                Ok(case) => cases.push(case),
                Err(wrong) => problems.extend(wrong),
            }
        }
    }
    if cases.is_empty() && problems.is_empty() {
        let message = "there is no [[case]] in it, so nothing would be checked".to_owned();
        problems.push(Problem { place: file.to_owned(), message });
    }
    if problems.is_empty() { Ok(cases) } else { Err(problems) }
}

fn case(table: Table) -> Result<Case, Vec<Problem>> {
    let mut fields = Fields::of(table);
    let place = fields.place().to_owned();
    let name = fields.text("name");
    let tool = fields.text("tool");
    if tool.is_none() {
        fields.wrong(&place, "the case needs a tool, such as \"bash\"");
    }
    let args = arguments(&mut fields);
    let expect = fields.named("expect", &RULINGS);
    if expect.len() != 1 {
        fields.wrong(&place, "the case needs one expect: \"allow\", \"ask\" or \"deny\"");
    }
    let mode = fields.named("mode", &MODES).first().copied();
    let approval = fields.named("approval", &APPROVALS).first().copied();
    let person = fields.switch("person").unwrap_or(true);
    let problems = fields.finish();
    match (tool, expect.first()) {
        (Some(tool), Some(expect)) if problems.is_empty() => {
            Ok(Case { place, name, tool, args, expect: *expect, mode, approval, person })
        }
        (_, _) => Err(problems),
    }
}

/// A table of arguments, or a command alone.
fn arguments(fields: &mut Fields) -> Value {
    let command = fields.text("command");
    let args = fields.take("args");
    match (command, args) {
        (Some(command), None) => serde_json::json!({ "command": command }),
        (None, Some(entry)) if entry.value.is_object() => entry.value,
        (None, None) => Value::Object(serde_json::Map::new()),
        (Some(_), Some(entry)) => {
            fields.wrong(&entry.place, "give either args or command, not both");
            Value::Null
        }
        (None, Some(entry)) => {
            let found = &entry.value;
            fields.wrong(&entry.place, format!("args: expected a table such as {{ path = \"a\" }}, found {found}"));
            Value::Null
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_read_and_mistakes_have_places() {
        let text = "[[case]]\ntool = 'bash'\ncommand = 'git log'\nexpect = 'allow'\n\n[[case]]\ntool = 'read_file'\nargs = { path = 'a' }\nexpect = 'deny'\nmode = 'plan'\nperson = false\n";
        let cases = read_cases(text, "c.toml").unwrap();
        assert_eq!(cases.len(), 2);
        assert_eq!((cases[0].expect, cases[0].person), (Ruling::Allow, true));
        assert_eq!((cases[1].mode, cases[1].person, cases[1].place.as_str()), (Some(Mode::Plan), false, "c.toml:6:1"));
        for (text, expected) in [
            ("", "c.toml: there is no [[case]]"),
            ("[[cases]]\n", "c.toml:1:3: there is no section \"cases\""),
            ("[[case]]\ntool = 'x'\n", "c.toml:1:1: the case needs one expect"),
            (
                "[[case]]\ntool = 'x'\nexpect = 'maybe'\n",
                "c.toml:3:1: expect: there is no \"maybe\"; there are allow, ask, deny",
            ),
            ("[[case]]\ntool = 'x'\nexpect = 'ask'\nargs = 1\n", "c.toml:4:1: args: expected a table"),
            (
                "[[case]]\ntool = 'x'\nexpect = 'ask'\ncomand = 'x'\n",
                "c.toml:4:1: there is no field \"comand\"; did you mean \"command\"?",
            ),
        ] {
            let problems = read_cases(text, "c.toml").unwrap_err();
            assert!(problems[0].to_string().starts_with(expected), "{}", problems[0]);
        }
    }
}
