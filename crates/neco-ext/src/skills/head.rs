//! What the top of a `SKILL.md` says. It is read as leniently as others do: an unknown field is passed over, and a name
//! that is written otherwise is made one. Nothing in it is read as YAML but the hooks.

use neco_config::front_matter::{Field, Parted, Reading, part};
use neco_safety::invisible;
use serde::{Deserialize, Serialize};

use super::{FILE, skill_hooks};
use crate::arguments::is_argument_name;
use crate::hooks::Origin;

/// The longest name.
pub const LONGEST_NAME: usize = 64;

/// Letters of what is shown behind a name.
const LONGEST_HINT: usize = 200;

/// The longest description.
pub const LONGEST_DESCRIPTION: usize = 1024;

/// The most tools that one skill names.
const MOST_TOOLS: usize = 100;

/// What the top of a skill's file says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Its name; none where the file gives none that can be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it does and when it is used.
    pub description: String,
    /// The only calls that are made while it is in use, as rules are written; none for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_tools: Option<Vec<String>>,
    /// The model that is asked while it is in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Whether it is done by an agent of its own.
    #[serde(default, skip_serializing_if = "is_false")]
    pub fork: bool,
    /// Who that agent is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Whether only a person can have it used.
    #[serde(default, skip_serializing_if = "is_false")]
    pub only_person: bool,
    /// Whether only the model can.
    #[serde(default, skip_serializing_if = "is_false")]
    pub only_model: bool,
    /// What may be written behind its name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub argument_hint: String,
    /// The names that its text has for the words behind its name, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// Whether it brings hooks.
    #[serde(default, skip_serializing_if = "is_false")]
    pub has_hooks: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn is_false(value: &bool) -> bool {
    !value
}

/// Why a file is no skill.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeadError {
    /// It has no head.
    #[error("it does not begin with a line ---, then name and description")]
    None,
    /// The head never ends.
    #[error("its head has no end: a line --- is missing")]
    Open,
    /// Its hooks can't guard anything.
    #[error("its hooks are not understood: {0}")]
    Hooks(String),
    /// Nothing is said of what it does.
    #[error("it has no description")]
    NoDescription,
}

impl HeadError {
    /// The line of a text that it is about, from 1.
    pub fn line(&self, text: &str) -> usize {
        let of_field = |name: &str| {
            let (fields, _) = fields(text).ok()?;
            fields.iter().find(|field| field.name == name).map(|field| field.line)
        };
        let line = match self {
            Self::None | Self::Open => None,
            Self::Hooks(_) => of_field("hooks"),
            Self::NoDescription => of_field("description"),
        };
        line.unwrap_or(1)
    }
}

impl Head {
    /// What a text says at its top, and the rest of it.
    ///
    /// # Errors
    /// When it is no skill.
    pub fn read(text: &str) -> Result<(Self, &str), HeadError> {
        let (fields, body) = fields(text)?;
        let get = |name: &str| fields.iter().find(|field| field.name == name);
        let line = |name: &str| get(name).map(|field| shown(&field.one_line())).filter(|text| !text.is_empty());
        let is = |name: &str, wanted: &str| line(name).is_some_and(|text| text.eq_ignore_ascii_case(wanted));
        let description: String = line("description").unwrap_or_default().chars().take(LONGEST_DESCRIPTION).collect();
        if description.is_empty() {
            return Err(HeadError::NoDescription);
        }
        let hooks = skill_hooks::of_fields(&fields, &Origin::User { file: FILE.into() })?;
        let arguments = get("arguments").map(argument_names).unwrap_or_default();
        let head = Self {
            name: line("name").and_then(|name| named(&name)),
            description,
            allowed_tools: get("allowed_tools").map(tools),
            model: line("model").filter(|model| !model.eq_ignore_ascii_case("inherit")),
            fork: is("context", "fork"),
            agent: line("agent"),
            only_person: is("disable_model_invocation", "true"),
            only_model: is("user_invocable", "false"),
            argument_hint: line("argument_hint")
                .map_or_else(|| arguments.join(" "), |hint| hint.chars().take(LONGEST_HINT).collect()),
            arguments,
            has_hooks: !hooks.is_empty(),
        };
        Ok((head, body))
    }
}

/// The fields of a file and what stands below them.
pub(super) fn fields(text: &str) -> Result<(Vec<Field>, &str), HeadError> {
    match part(text, Reading::Loose) {
        Parted::Whole { fields, body, .. } => Ok((fields, body)),
        Parted::Open => Err(HeadError::Open),
        Parted::None => Err(HeadError::None),
    }
}

/// A line as everybody sees it: nothing in it is hidden.
fn shown(text: &str) -> String {
    invisible::seen(text).text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The name that a text stands for; none where nothing of it is one.
pub(super) fn named(text: &str) -> Option<String> {
    let name = text.trim().to_lowercase().replace([' ', '_'], "-");
    let name = name.trim_matches('-').to_owned();
    is_name(&name).then_some(name)
}

/// Whether a text can be the name of a skill: letters, digits and single hyphens.
pub fn is_name(text: &str) -> bool {
    let letters = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    (1..=LONGEST_NAME).contains(&text.len())
        && letters
        && !text.starts_with('-')
        && !text.ends_with('-')
        && !text.contains("--")
}

/// The names that a field has for arguments, in their order: a list, or one line. What is no name is none.
pub fn argument_names(field: &Field) -> Vec<String> {
    tools(field).into_iter().filter(|name| is_argument_name(name)).collect()
}

/// The tools that a field names: a list of YAML, or one line with commas or blanks between them. What stands in brackets
/// is one.
pub fn tools(field: &Field) -> Vec<String> {
    // `|` and `>` announce lines of text.
    let first = Some(field.first()).filter(|first| !first.starts_with(['|', '>']));
    let lines = first.into_iter().chain(field.below().map(|(_, line)| line.trim()));
    let text: Vec<&str> = lines.map(|line| line.strip_prefix("- ").unwrap_or(line)).collect();
    let text = text.join("\n");
    let (mut tools, mut tool, mut depth, mut is_comment) = (Vec::new(), String::new(), 0_usize, false);
    for char in text.chars() {
        is_comment = char != '\n' && (is_comment || char == '#' && depth == 0 && tool.is_empty());
        if is_comment {
            continue;
        }
        match char {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            // One whose bracket is not closed ends with its line.
            '\n' => depth = 0,
            _ => {}
        }
        if depth == 0 && (char == ',' || char.is_whitespace()) {
            tools.push(std::mem::take(&mut tool));
        } else {
            tool.push(char);
        }
    }
    tools.push(tool);
    let tools = tools.iter().map(|tool| shown(tool.trim_matches(['[', ']', '"', '\''])));
    tools.filter(|tool| !tool.is_empty()).take(MOST_TOOLS).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn head(fields: &str) -> Head {
        Head::read(&format!("---\n{fields}\n---\nDo it.\n")).unwrap().0
    }

    #[test]
    fn a_head_is_read_as_others_write_it() {
        let text = "name: PDF Forms\ndescription: >\n  Fills: forms.\n  Use it for PDFs.\nallowed-tools: Bash(git log:*), Read\n\
            disable-model-invocation: true\nuser-invocable: false\nargument-hint: '[file]'\nmodel: opus\ncontext: fork\n\
            agent: explore\nlicense: MIT\nmetadata:\n  version: \"1\"\nhooks:\n  Stop:\n  - hooks:\n    - command: x\nunheard: of";
        let read = head(text);
        assert_eq!(
            (read.name.as_deref(), read.description.as_str()),
            (Some("pdf-forms"), "Fills: forms. Use it for PDFs.")
        );
        assert_eq!(read.allowed_tools, Some(vec!["Bash(git log:*)".to_owned(), "Read".to_owned()]));
        assert!(read.only_person && read.only_model && read.fork && read.has_hooks);
        assert_eq!((read.agent.as_deref(), read.model.as_deref()), (Some("explore"), Some("opus")));
        assert_eq!(read.argument_hint, "[file]");
        let kept = serde_json::to_string(&read).unwrap();
        assert_eq!(serde_json::from_str::<Head>(&kept).unwrap(), read);
    }

    #[test]
    fn tools_are_listed_in_every_form() {
        for tools in [
            "allowed-tools: Bash(git add:*) Read",
            "allowed_tools: [Bash(git add:*), Read]",
            "allowed-tools:\n  - Bash(git add:*)\n  - Read",
            "allowedTools: \"Bash(git add:*)\", Read",
            "allowed-tools: \"Bash(git add:*), Read\"",
            "allowed-tools: [\"Bash(git add:*)\", 'Read'] # only these",
            "allowed-tools:\n  [\n    Bash(git add:*),\n    Read,\n  ]",
            "allowed-tools:\n- \"Bash(git add:*)\" # a comment\n# another\n- Read",
            "allowed-tools: >-\n  Bash(git add:*)\n  Read",
        ] {
            let read = head(&format!("description: d\n{tools}"));
            assert_eq!(read.allowed_tools, Some(vec!["Bash(git add:*)".to_owned(), "Read".to_owned()]), "{tools}");
        }
        let others =
            head("description: d\nallowed-tools: Bash(git *) Bash(ls, -l) mcp__db__* mcp__db, Bash(echo \"#\")");
        let listed = ["Bash(git *)", "Bash(ls, -l)", "mcp__db__*", "mcp__db", "Bash(echo \"#\")"];
        assert_eq!(others.allowed_tools.unwrap(), listed);
        assert_eq!(head("description: d").allowed_tools, None);
        assert_eq!(head("description: d\nallowed-tools:").allowed_tools, Some(Vec::new()), "none at all");
    }

    #[test]
    fn arguments_have_names_in_every_form() {
        for written in
            ["[issue, branch]", "issue branch", "\n  - issue\n  - branch", "[\"issue\", branch, $x, ARGUMENTS]"]
        {
            let read = head(&format!("description: d\narguments: {written}"));
            assert_eq!(
                (read.arguments.join(","), read.argument_hint.as_str()),
                ("issue,branch".to_owned(), "issue branch")
            );
        }
        assert_eq!(head("description: d\narguments: x\nargument-hint: '[x]'").argument_hint, "[x]");
    }

    #[test]
    fn what_is_no_skill_says_why() {
        assert_eq!(Head::read("Do it."), Err(HeadError::None));
        assert_eq!(Head::read("---\nname: x\n"), Err(HeadError::Open));
        assert_eq!(Head::read("---\nname: x\n---\n"), Err(HeadError::NoDescription));
        let mut bomb = "\n  a0: &a0 [x,x,x,x,x,x,x,x,x]".to_owned();
        (1..20).for_each(|at| bomb.push_str(&format!("\n  a{at}: &a{at} [{}]", format!("*a{},", at - 1).repeat(9))));
        for hooks in
            [" [", " {PreToolUse: guard.sh}", "\n  PreToolUsed: []", "\n  Stop:\n  - hooks: [{type: prompt}]", &bomb]
        {
            let read = Head::read(&format!("---\ndescription: d\nhooks:{hooks}\n---\n")).map(drop);
            assert!(matches!(read, Err(HeadError::Hooks(_))), "{hooks}: {read:?}");
        }
        assert!(Head::read("---\ndescription: d\nhooks:\n---\n").is_ok_and(|(head, _)| !head.has_hooks));
    }

    #[test]
    fn a_name_runs_nothing_and_leads_nowhere() {
        for (written, name) in [
            ("ok-1", Some("ok-1")),
            ("My Skill", Some("my-skill")),
            ("../../etc/passwd", None),
            ("a$(id)", None),
            ("a;id", None),
            ("", None),
            ("--", None),
            ("ä", None),
        ] {
            assert_eq!(named(written).as_deref(), name, "{written}");
        }
        assert_eq!(named(&"a".repeat(65)), None);
        let hidden = head("description: read\u{200b}me");
        assert_eq!(hidden.description, "read⟨U+200B⟩me");
    }

    #[test]
    fn a_bomb_of_yaml_is_text() {
        let mut text = "description: &a [x,x,x,x,x,x,x,x,x]\n".to_owned();
        for level in 0..20 {
            text.push_str(&format!("b{level}: &b{level} [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"));
        }
        let read = head(text.trim_end());
        assert!(read.description.len() < 100, "{}", read.description);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_harm(text in "(---\n)?([a-z-]{0,12}: ?(\\PC|\n){0,30}){0,4}(---\n)?(\\PC|\n){0,20}") {
            if let Ok((head, _)) = Head::read(&text) {
                prop_assert!(head.name.is_none_or(|name| is_name(&name)));
            }
        }
    }
}
