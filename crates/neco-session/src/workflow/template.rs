//! What a task is told: texts with what it was started with and what earlier tasks gave.
//!
//! `{{ inputs.goal }}` is an input, `{{ tasks.plan.output }}` what an earlier task gave and
//! `{{ tasks.plan.failed }}` whether it failed; the task must need that one, directly or through others.
//! Whatever is not there is an error, never an empty text, and so is what a task gave that was not wanted. In a
//! command, `| quote` makes one word for the shell of anything. What commands and tools gave is data: an agent
//! gets it between tags that say so.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use minijinja::{Environment, ErrorKind, UndefinedBehavior};
use neco_proto::event::TaskKind;
use serde_json::Value;

use super::definition::Work;
use super::error::WorkflowError;
use super::graph::{Graph, Task, TaskIndex};
use super::limits::{self, Code, LONGEST, LONGEST_ALONE, MOST_STEPS, is_template};
use super::scope::{self, Given, Reader};

/// The part of a task that says when it has failed although it was done.
const FAILS_IF: &str = "fails_if";

/// What templates read; a copy is the same.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    /// What the workflow was started with.
    pub inputs: Arc<BTreeMap<String, Value>>,
    /// What finished tasks gave.
    pub tasks: Arc<BTreeMap<String, Given>>,
}

impl Values {
    /// Before any task.
    pub fn of(graph: &Graph) -> Self {
        Self { inputs: Arc::new(graph.inputs.clone()), tasks: Arc::default() }
    }

    /// A task gave `output`.
    pub fn give(&mut self, task: &Task, output: Value, failed: bool) {
        let outside = task.work.kind() != TaskKind::Agent;
        let output = Some(output).filter(|output| !output.is_null());
        Arc::make_mut(&mut self.tasks).insert(task.name.clone(), Given { output, failed, outside });
    }

    /// Whether a task is to be done.
    pub fn wants(&self, task: &Task) -> Result<bool, WorkflowError> {
        task.when.as_ref().map_or(Ok(true), |when| self.holds(task, "condition", when))
    }

    /// Why a task that was done has failed all the same, if it has.
    pub fn failure(&self, task: &Task) -> Result<Option<String>, WorkflowError> {
        let Some(fails) = &task.fails_if else { return Ok(None) };
        Ok(self.holds(task, FAILS_IF, &fails.condition)?.then(|| fails.because.clone()))
    }

    fn holds(&self, task: &Task, part: &'static str, expression: &str) -> Result<bool, WorkflowError> {
        Ok(self.evaluated(task, part, expression)?.is_true())
    }

    fn evaluated(&self, task: &Task, part: &'static str, expression: &str) -> Result<minijinja::Value, WorkflowError> {
        let environment = environment();
        let compiled = limits::check_expression(expression).and_then(|()| environment.compile_expression(expression));
        let value = compiled.and_then(|compiled| compiled.eval(scope::of(self, Reader::Program)));
        value.map_err(|error| bad(task, part, &error))
    }

    /// What a task does, with every template filled in.
    pub fn fill(&self, task: &Task) -> Result<Work, WorkflowError> {
        let fill = |reader: Reader, part: &'static str, text: &str| {
            if !is_template(text) {
                return Ok(text.to_owned());
            }
            let filled = limits::render(&environment(), text, scope::of(self, reader), LONGEST);
            filled.map_err(|error| bad(task, part, &error))
        };
        Ok(match &task.work {
            Work::Agent { role, prompt, model } => {
                let prompt = fill(Reader::Agent, "prompt", prompt)?;
                Work::Agent { role: role.clone(), prompt, model: model.clone() }
            }
            Work::Command { line } => Work::Command { line: fill(Reader::Program, "command", line)? },
            Work::Tool { name, arguments } => {
                let arguments = each_text(arguments, &mut |text| match sole_expression(text) {
                    Some(expression) => self.evaluate(task, expression),
                    None => fill(Reader::Program, "arguments", text).map(Value::String),
                })?;
                Work::Tool { name: name.clone(), arguments }
            }
        })
    }

    /// An argument that is an expression alone keeps its kind: a number stays one.
    fn evaluate(&self, task: &Task, expression: &str) -> Result<Value, WorkflowError> {
        let value = self.evaluated(task, "arguments", expression)?;
        serde_json::to_value(value).map_err(|error| WorkflowError::BadTemplate {
            task: task.name.clone(),
            part: "arguments",
            reason: error.to_string(),
        })
    }
}

/// The expression of a text that is nothing else.
fn sole_expression(text: &str) -> Option<&str> {
    let inside = text.trim().strip_prefix("{{")?.strip_suffix("}}")?;
    (!inside.contains("{{") && !inside.contains("}}")).then_some(inside)
}

/// Whether a text is a name that templates can use.
pub(crate) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|first| first.is_ascii_alphabetic())
        && chars.all(|char| char.is_ascii_alphanumeric() || char == '_')
}

/// Checks that every template reads only what will be there when it is filled in. `order` has every
/// task after all that it needs.
pub(super) fn check(graph: &Graph, order: &[TaskIndex]) -> Vec<WorkflowError> {
    let mut problems = Vec::new();
    for (index, task) in order.iter().filter_map(|index| Some((*index, graph.task(*index)?))) {
        let names = match reads(task) {
            Ok(names) => names,
            Err(problem) => {
                problems.push(problem);
                continue;
            }
        };
        let own = format!("tasks.{}.output", task.name);
        for (part, name) in names {
            // A task is done when it is asked whether it has failed.
            if part == FAILS_IF && (name == own || name.starts_with(&format!("{own}."))) {
                continue;
            }
            if let Some(why) = missing(graph, &name, index) {
                problems.push(WorkflowError::MissingInput { task: task.name.clone(), part, name, why });
            }
        }
    }
    problems
}

/// Why a name can't be read, if so.
fn missing(graph: &Graph, name: &str, reader: TaskIndex) -> Option<String> {
    let mut parts = name.split('.');
    match (parts.next(), parts.next(), parts.next()) {
        (Some("inputs"), Some(input), _) => {
            (!graph.inputs.contains_key(input)).then(|| format!("and the workflow has no input {input}"))
        }
        (Some("tasks"), Some(task), Some("output" | "failed")) => {
            let known = is_above(graph, reader, task);
            (!known).then(|| format!("and does not need {task}, so it may not be done by then"))
        }
        (Some("tasks"), Some(task), _) => Some(format!("which is not there; tasks.{task}.output is what it gave")),
        _ => Some("which is neither inputs.NAME nor tasks.NAME.output".to_owned()),
    }
}

/// Whether the task of a name is done before this one. Most read what they need themselves, which is looked at
/// first; only for others all that they need is gone through.
fn is_above(graph: &Graph, reader: TaskIndex, name: &str) -> bool {
    let is_named = |task: &TaskIndex| graph.task(*task).is_some_and(|task| task.name == name);
    let mut next: Vec<TaskIndex> = graph.needs(reader).to_vec();
    let mut seen: HashSet<TaskIndex> = next.iter().copied().collect();
    if next.iter().any(is_named) {
        return true;
    }
    while let Some(task) = next.pop() {
        if is_named(&task) {
            return true;
        }
        next.extend(graph.needs(task).iter().filter(|need| seen.insert(**need)));
    }
    false
}

/// What the templates of a task read, and in which part of it.
pub(super) fn reads(task: &Task) -> Result<BTreeSet<(&'static str, String)>, WorkflowError> {
    let mut found = BTreeSet::new();
    let conditions =
        [("condition", task.when.as_ref()), (FAILS_IF, task.fails_if.as_ref().map(|fails| &fails.condition))];
    for (part, condition) in conditions.into_iter().filter_map(|(part, condition)| Some((part, condition?))) {
        let environment = environment();
        let compiled = environment.compile_expression(condition).map_err(|error| bad(task, part, &error))?;
        sound(task, part, condition)?;
        found.extend(compiled.undeclared_variables(true).into_iter().map(|name| (part, name)));
    }
    let mut read = |part: &'static str, text: &str| {
        if is_template(text) {
            let environment = environment();
            let template = environment.template_from_str(text).map_err(|error| bad(task, part, &error))?;
            sound(task, part, text)?;
            found.extend(template.undeclared_variables(true).into_iter().map(|name| (part, name)));
        }
        Ok::<_, WorkflowError>(Value::Null)
    };
    match &task.work {
        Work::Agent { prompt, .. } => read("prompt", prompt)?,
        Work::Command { line } => read("command", line)?,
        Work::Tool { arguments, .. } => each_text(arguments, &mut |text| read("arguments", text))?,
    };
    Ok(found)
}

fn sound(task: &Task, part: &'static str, text: &str) -> Result<(), WorkflowError> {
    let checked = if is_template(text) { limits::check(text) } else { limits::check_expression(text) };
    checked.map_err(|error| bad(task, part, &error))?;
    let Some(name) = unknown_filter(text) else { return Ok(()) };
    let reason = format!("there is no filter {name}");
    Err(WorkflowError::BadTemplate { task: task.name.clone(), part, reason })
}

/// A filter in a template that does not exist, which would be found only when it is filled in.
pub(crate) fn unknown_filter(text: &str) -> Option<String> {
    let environment = environment();
    Code::of(text).filters.into_iter().find(|name| {
        let tried = environment.compile_expression(&format!("''|{name}")).and_then(|tried| tried.eval(()));
        tried.is_err_and(|error| error.kind() == ErrorKind::UnknownFilter)
    })
}

/// What a template reads that stands alone, such as the query of an agent.
pub(crate) fn reads_alone(text: &str) -> Result<BTreeSet<String>, minijinja::Error> {
    let environment = environment();
    let template = environment.template_from_str(text)?;
    limits::check(text)?;
    Ok(template.undeclared_variables(true).into_iter().collect())
}

/// Such a template with its inputs filled in.
pub(crate) fn fill_alone(text: &str, inputs: &BTreeMap<String, Value>) -> Result<String, minijinja::Error> {
    let values = Values { inputs: Arc::new(inputs.clone()), tasks: Arc::default() };
    limits::render(&environment(), text, scope::of(&values, Reader::Agent), LONGEST_ALONE)
}

/// Why a template can't be used.
pub(crate) fn reason(error: &minijinja::Error) -> String {
    if error.kind() == ErrorKind::OutOfFuel {
        return format!("it takes more than {MOST_STEPS} steps: its loops are too long");
    }
    error.detail().map_or_else(|| error.kind().to_string(), |detail| format!("{}: {detail}", error.kind()))
}

fn each_text(
    value: &Value,
    take: &mut impl FnMut(&str) -> Result<Value, WorkflowError>,
) -> Result<Value, WorkflowError> {
    Ok(match value {
        Value::String(text) => take(text)?,
        Value::Array(items) => Value::Array(items.iter().map(|item| each_text(item, take)).collect::<Result<_, _>>()?),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| Ok((name.clone(), each_text(value, take)?));
            Value::Object(fields.iter().map(field).collect::<Result<_, WorkflowError>>()?)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    })
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    limits::limit(&mut environment);
    environment.add_filter("quote", |text: String| format!("'{}'", text.replace('\'', r"'\''")));
    environment
}

fn bad(task: &Task, part: &'static str, error: &minijinja::Error) -> WorkflowError {
    WorkflowError::BadTemplate { task: task.name.clone(), part, reason: reason(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_never_end_or_grow_without_end_is_refused() {
        let filled = |text: &str| fill_alone(text, &BTreeMap::from([("name".to_owned(), Value::from("x"))]));
        assert_eq!(filled("{% for _ in range(3) %}{{ inputs.name }}{% endfor %}").unwrap(), "xxx");
        let long = "{% for a in range(9999) %}{% for b in range(9999) %}{% for c in range(9999) %}{% endfor %}\
                    {% endfor %}{% endfor %}";
        let refused = reason(&filled(long).unwrap_err());
        assert!(refused.contains("its loops are too long"), "{refused}");
        let big = "{% for a in range(9999) %}{{ 'word' * 99 }}{% endfor %}";
        let refused = reason(&filled(big).unwrap_err());
        assert!(refused.contains("a text of more than 256 KiB"), "{refused}");
    }

    #[test]
    fn what_would_grow_in_memory_before_it_is_written_is_refused() {
        let word = Value::from("x".repeat(100_000));
        let filled = |text: &str| fill_alone(text, &BTreeMap::from([("name".to_owned(), word.clone())]));
        let joined = format!("{{{{ {} }}}}", vec!["inputs.name"; 102].join(" ~ "));
        let repeats = "it may use * 2 times, beside a number of at most 3 digits";
        for (text, words) in [
            ("{% set a = 'x' %}{% set a = a ~ a %}{{ a }}", "there is no {% set %} here"),
            ("{%- with a = [1, 1] %}{{ a }}{% endwith %}", "there is no {% with %} here"),
            ("{%+ filter upper %}{{ inputs.name }}{% endfilter %}", "there is no {% filter %} here"),
            ("{% for a in [[1]] recursive %}{{ loop(a) ~ loop(a) }}{% endfor %}", "no recursive loops"),
            ("{% for a in [[1]]recursive %}{{ loop(a) ~ loop(a) }}{% endfor %}", "no recursive loops"),
            ("{# {{ ' #}{% set a = 'xxxxxxxx' %}{{ a }}", "there are no comments"),
            ("{% raw %}{{ '{% endraw %}{% set a = 'xxxxxxxx' %}{{ a }}", "there is no {% raw %} here"),
            ("{{ [{'a':{}}, [1] * 99999999 | list] | length }}", repeats),
            (&joined, "joins more than 100 texts"),
            ("{{ (('x' * 99) * 99) * 99 }}", repeats),
            ("{{ ([1] * 99999999) | list | length }}", repeats),
            ("{{ [1] * (99999999) }}", repeats),
            ("{{ [1] * 1e8 }}", repeats),
            ("{{ 99_999_999 * [1] }}", repeats),
            ("{{ inputs.name * inputs.name }}", repeats),
            ("{{ inputs.name | replace('x', inputs.name) | length }}", "a text of more than 2048 KiB"),
            ("{{ inputs.name | join(inputs.name) | length }}", "a text of more than 2048 KiB"),
            ("{{ inputs.name | indent(999999999) }}", "unknown filter"),
        ] {
            let refused = reason(&filled(text).unwrap_err());
            assert!(refused.contains(words), "{text}: {refused}");
        }
        let sound =
            "{% if inputs.name %}{{ ['a', \"it's {% set %} 'b'\"] | join(', ') | replace('a', 'c') }}{% endif %}";
        assert_eq!(filled(sound).unwrap(), "c, it's {% set %} 'b'");
        assert_eq!(filled("{{ '-' * 3 }}{{ 2 * 21 }}").unwrap(), "---42");
        assert_eq!(filled("it's {{ {'a':{'b':1}}['a']['b'] }}, don't").unwrap(), "it's 1, don't");
        assert!(limits::check_expression("[1] * 99999999 and '{{'").is_err(), "texts make no template of it");
    }
}
