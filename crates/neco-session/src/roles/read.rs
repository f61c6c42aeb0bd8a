//! What the fields of a definition mean.

use neco_config::front_matter::{Field, Parted, Reading, part};
use neco_proto::Mode;
use neco_proto::app::agents::{Level, Problem};
use neco_proto::event::NodeType;
use neco_safety::is_listed;

use super::definition::{Definition, Narrowing, Origin, RoleModel, ToolChoice};

/// The longest name; tools are named after it.
const LONGEST_NAME: usize = 48;
/// The longest description: it is told to whoever chooses.
pub(super) const LONGEST_DESCRIPTION: usize = 2000;

/// Fields that have a meaning here.
const KNOWN: &str = "\
    name description tools disallowed_tools model model_group temperature output output_schema max_turns steps max_output \
    timeout timeout_mins max_cost max_tokens budget type node_type mode permission_mode permission deny ask \
    inputs query skills";
/// Fields of other agents that change nothing about what an agent may do.
const OF_OTHERS: &str = "\
    color icon kind license version author metadata tags category compatibility top_p display_name argument_hint \
    effort hidden background initial_prompt target handoffs infer examples tier";
/// Fields of other agents that would do something, and do nothing here.
const WITHOUT_EFFECT: [&str; 6] = ["hooks", "mcp_servers", "memory", "isolation", "reasoning_effort", "disable"];

/// The most skills that an agent is told before it begins.
const MOST_SKILLS: usize = 20;

/// The group that a family of another agent's models stands for: how strong a model is wanted.
fn group_of_family(name: &str) -> Option<&'static str> {
    match name.to_lowercase().as_str() {
        "opus" => Some("think"),
        "sonnet" => Some("balanced"),
        "haiku" => Some("act"),
        _ => None,
    }
}

/// The group or model that a file names; nothing where the usual one is meant.
pub(crate) fn model_of(name: &str) -> Option<String> {
    let lower = name.to_lowercase();
    let is_usual = ["", "default", "inherit", "parent"].contains(&lower.as_str());
    let named = || group_of_family(name).map_or_else(|| name.to_owned(), str::to_owned);
    (!is_usual).then(named)
}

/// What a file comes to: a definition, if it can be understood, and what is wrong with it.
///
/// `shown` is what the file is called in words for a person, `stem` its name without the ending.
pub fn read_definition(text: &str, shown: &str, stem: &str, origin: Origin) -> (Option<Definition>, Vec<Problem>) {
    let mut reader =
        Reader { shown, ours: is_ours(&origin), is_built_in: origin == Origin::BuiltIn, problems: Vec::new() };
    let definition = match part(text, Reading::Strict) {
        Parted::Whole { fields, stray, body, body_line } => {
            for (line, _) in stray {
                reader.error(line, "this line belongs to no field");
            }
            reader.definition(&fields, stem, body, body_line, origin)
        }
        Parted::Open => {
            reader.error(1, "the head that begins here has no end: a line --- is missing");
            None
        }
        Parted::None => {
            reader.error(1, "there is no head: a definition begins with a line ---, then name and description");
            None
        }
    };
    reader.problems.sort_by_key(|problem| problem.line);
    let usable = reader.problems.iter().all(|problem| problem.level == Level::Warning);
    (definition.filter(|_| usable), reader.problems)
}

/// Whether a file is written for Neco: then a field that it does not know is an error.
fn is_ours(origin: &Origin) -> bool {
    let folder = |file: &std::path::Path| {
        let others = [".claude", ".agents"];
        file.components().any(|part| others.iter().any(|name| part.as_os_str() == *name))
    };
    !origin.file().is_some_and(folder)
}

/// Reads one file.
pub(super) struct Reader<'a> {
    shown: &'a str,
    ours: bool,
    /// A test looks at what comes with the program, so that no start has to.
    pub(super) is_built_in: bool,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    pub(super) fn error(&mut self, line: usize, what: impl Into<String>) {
        self.problem(line, Level::Error, what.into());
    }

    pub(super) fn warning(&mut self, line: usize, what: impl Into<String>) {
        self.problem(line, Level::Warning, what.into());
    }

    fn problem(&mut self, line: usize, level: Level, what: String) {
        self.problems.push(Problem { file: self.shown.to_owned(), line, level, what });
    }

    fn definition(
        &mut self,
        fields: &[Field],
        stem: &str,
        body: &str,
        body_line: usize,
        origin: Origin,
    ) -> Option<Definition> {
        self.unknown(fields);
        let get = |names: &[&str]| fields.iter().find(|field| names.contains(&field.name.as_str()));
        let name = self.name(get(&["name"]), stem);
        let description = self.description(get(&["description"]));
        let prompt = body.trim().to_owned();
        if prompt.is_empty() {
            self.error(body_line, "there is no text below the head: it is what the agent is told");
        }
        let mut narrowing = Narrowing {
            mode: self.mode(get(&["mode"]), get(&["permission_mode"])),
            deny: get(&["deny"]).map(|field| self.rules(field)).unwrap_or_default(),
            ask: get(&["ask"]).map(|field| self.rules(field)).unwrap_or_default(),
            within: Vec::new(),
        };
        if let Some(field) = get(&["permission"]) {
            self.permissions(field, &mut narrowing);
        }
        let inputs = get(&["inputs"]).map(|field| self.inputs(field)).unwrap_or_default();
        Some(Definition {
            prompt,
            model: get(&["model", "model_group"]).map(|field| self.model(field)).unwrap_or_default(),
            temperature: get(&["temperature"]).and_then(|field| self.number(field, 0.0, 2.0)),
            max_output: get(&["max_output"]).and_then(|field| self.whole(field)).map(u64::from),
            tools: ToolChoice {
                only: get(&["tools"]).and_then(|field| self.tools(field)),
                except: self.except(get(&["disallowed_tools"]), get(&["tools"])),
            },
            narrowing,
            skills: get(&["skills"]).map(|field| self.skills(field)).unwrap_or_default(),
            query: self.query(get(&["query"]), &inputs, get(&["inputs"])),
            inputs,
            output_schema: get(&["output", "output_schema"]).and_then(|field| self.schema(field)),
            max_turns: get(&["max_turns", "steps"]).and_then(|field| self.whole(field)),
            timeout: self.timeout(get(&["timeout"]), get(&["timeout_mins"])),
            budget: self.budget(get(&["budget"]), get(&["max_cost"]), get(&["max_tokens"])),
            node_type: get(&["type", "node_type"]).map_or(NodeType::Child, |field| self.node_type(field)),
            origin,
            // Without them there is none; what else is wrong is told all the same.
            name: name?,
            description: description?,
        })
    }

    /// A field that narrows must not be lost because its name is misspelt.
    fn unknown(&mut self, fields: &[Field]) {
        for (index, field) in fields.iter().enumerate() {
            let name = field.name.as_str();
            let twice = fields.iter().take(index).any(|other| other.name == field.name);
            if is_listed(name, KNOWN) && twice {
                self.error(field.line, format!("{} is there twice", field.written));
            }
            if is_listed(name, KNOWN) || is_listed(name, OF_OTHERS) {
                continue;
            }
            if WITHOUT_EFFECT.contains(&name) {
                self.warning(field.line, format!("{} has no effect here", field.written));
                continue;
            }
            let near = KNOWN
                .split_ascii_whitespace()
                .find(|known| strsim::damerau_levenshtein(known, name) <= 2 && known.len() > 3);
            match near {
                Some(near) => {
                    self.error(field.line, format!("there is no field {}; did you mean {near}?", field.written))
                }
                None if self.ours => self.error(field.line, format!("there is no field {}", field.written)),
                None => self.warning(field.line, format!("there is no field {} here", field.written)),
            }
        }
    }

    fn name(&mut self, field: Option<&Field>, stem: &str) -> Option<String> {
        let (written, line) = field.map_or((stem.to_owned(), 1), |field| (field.words(), field.line));
        let name: String = written.trim().to_lowercase().replace([' ', '.', '/'], "-");
        let is_name = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_');
        if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(is_name) {
            self.error(
                line,
                format!("{written:?} is no name for an agent: letters, digits, - and _, at most {LONGEST_NAME}"),
            );
            return None;
        }
        if name != written.trim() {
            self.warning(line, format!("the agent is called {name} here"));
        }
        Some(name)
    }

    fn description(&mut self, field: Option<&Field>) -> Option<String> {
        let text = field.map(Field::words).unwrap_or_default();
        if text.is_empty() {
            self.error(field.map_or(1, |field| field.line), "description is missing: agents are chosen by it");
            return None;
        }
        Some(text.chars().take(LONGEST_DESCRIPTION).collect())
    }

    /// The names of skills; whether there are such is known when an agent begins.
    fn skills(&mut self, field: &Field) -> Vec<String> {
        let names = self.texts(field).into_iter().map(|(name, _)| name);
        names.filter(|name| !name.is_empty()).take(MOST_SKILLS).collect()
    }

    fn model(&mut self, field: &Field) -> RoleModel {
        let name = field.words();
        if let Some(group) = group_of_family(&name) {
            return RoleModel::Named(group.to_owned());
        }
        match name.to_lowercase().as_str() {
            "" | "default" => RoleModel::OfType,
            "inherit" | "parent" => RoleModel::OfParent,
            _ if name.chars().any(char::is_whitespace) => {
                self.error(field.line, format!("{name:?} is no model: a group's name, provider/model, or inherit"));
                RoleModel::OfType
            }
            lower
                if !name.contains('/')
                    && (lower.starts_with("claude") || lower.starts_with("gpt") || lower.starts_with("gemini")) =>
            {
                self.warning(
                    field.line,
                    format!("{name} names no provider, so the usual model is asked; write provider/{name}"),
                );
                RoleModel::OfType
            }
            _ => RoleModel::Named(name),
        }
    }

    fn mode(&mut self, mode: Option<&Field>, permissions: Option<&Field>) -> Option<Mode> {
        if let Some(field) = mode {
            let name = field.words().to_lowercase();
            // Where another agent says whether a person may talk to the agent.
            if matches!(name.as_str(), "primary" | "subagent" | "all") {
                return None;
            }
            let found = [Mode::Agent, Mode::Plan, Mode::Ask, Mode::Debug].into_iter().find(|mode| mode.name() == name);
            if found.is_none() {
                self.error(field.line, format!("there is no mode {name:?}; there are agent, plan, ask and debug"));
            }
            return found;
        }
        let field = permissions?;
        match field.words().to_lowercase().as_str() {
            "plan" => Some(Mode::Plan),
            "default" | "" => None,
            _ => {
                self.warning(field.line, format!("{}: a definition can't widen what its agent may do", field.written));
                None
            }
        }
    }
}
