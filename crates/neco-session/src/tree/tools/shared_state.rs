//! state_get and state_set: values that all agents of a session share.

use neco_proto::ErrorCode;
use neco_proto::event::SharedStateUpdate;
use neco_safety::untrusted;
use neco_toolkit::{SideEffect, Tool, ToolContext, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::member::Member;
use crate::tree::shared::{SharedChange, kind};

/// Characters of a value in the list of all.
const SHOWN: usize = 200;

/// What is told of these tools where agents are started, to whom they are not declared.
pub const HINT: &str =
    "(state_set{key, value} and state_get{key} keep values that all agents of this session share: any JSON value.)";

pub struct StateGet {
    pub(super) member: Member,
    /// Whether it is declared to its agent.
    pub(super) offered: bool,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetArgs {
    /// Only this one; all in short when left out.
    #[serde(default)]
    key: Option<String>,
}

impl Tool for StateGet {
    type Args = GetArgs;
    const NAME: &'static str = "state_get";
    const DESCRIPTION: &'static str =
        "Reads the values that all agents of this session share, each with its version and who set it.";
    const TOUCH: SideEffect = SideEffect::Reads;

    fn is_offered(&self) -> bool {
        self.offered
    }

    fn summary(&self, args: &GetArgs) -> String {
        format!("Look at {}", args.key.as_deref().unwrap_or("what is shared"))
    }

    async fn run(&self, args: GetArgs, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        let shared = self.member.supervisor()?.shared();
        let text = match args.key.as_deref().map(str::trim) {
            None => {
                let lines: Vec<String> = shared.iter().map(line).collect();
                if lines.is_empty() { "Nothing is shared yet.".to_owned() } else { lines.join("\n") }
            }
            Some(key) => match shared.iter().find(|entry| entry.key == key) {
                Some(SharedStateUpdate { key, value, version, writer }) => {
                    format!("{:#}", json!({ "key": key, "version": version, "set_by": writer, "value": value }))
                }
                None => {
                    let keys: Vec<&str> = shared.iter().map(|entry| entry.key.as_str()).collect();
                    let there = if keys.is_empty() { "nothing is shared yet".to_owned() } else { keys.join(", ") };
                    let words = format!("there is no value {key:?}; there are: {there}");
                    return Err(ToolError::new(ErrorCode::InvalidArguments, words));
                }
            },
        };
        Ok(ToolOutput::text(untrusted::neutral(&text).into_owned()))
    }
}

pub struct StateSet {
    pub(super) member: Member,
    /// See [`StateGet`].
    pub(super) offered: bool,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetArgs {
    /// Its name, such as `plan` or `review/findings`.
    key: String,
    /// Any JSON value of the type that it has already; null removes it.
    value: Value,
    /// The version that you saw; the call is refused when somebody set it since. 0: it must not be there.
    #[serde(default)]
    expected_version: Option<u64>,
}

impl Tool for StateSet {
    type Args = SetArgs;
    const NAME: &'static str = "state_set";
    const DESCRIPTION: &'static str = "Sets a value that all agents of this session share, such as a decision or what was found out, for agents that do not talk with each other. It stays as long as the session.";
    const TOUCH: SideEffect = SideEffect::Reads;

    fn is_offered(&self) -> bool {
        self.offered
    }

    fn summary(&self, args: &SetArgs) -> String {
        match args.value.is_null() {
            true => format!("Remove {} from what is shared", args.key),
            false => format!("Share {}: {}", args.key, shortened(&args.value)),
        }
    }

    async fn run(&self, args: SetArgs, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        let SetArgs { key, value, expected_version: expected } = args;
        let (key, removes) = (key.trim().to_owned(), value.is_null());
        let change = SharedChange { key: key.clone(), value, expected };
        let version = self.member.supervisor()?.share(self.member.agent, change).await?;
        Ok(ToolOutput::text(match removes {
            true => format!("{key} is removed."),
            false => format!("{key} is at version {version}."),
        }))
    }
}

fn line(entry: &SharedStateUpdate) -> String {
    let SharedStateUpdate { key, value, version, writer } = entry;
    let value = value.as_ref().unwrap_or(&Value::Null);
    format!("{key} ({}, version {version}, by {writer}): {}", kind(value), shortened(value))
}

/// The beginning of a value, in one line.
fn shortened(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
