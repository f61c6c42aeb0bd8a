//! Payloads about asking a person.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::actor::Actor;
use crate::command::Decision;
use crate::display::Diff;
use crate::ids::CallId;
use crate::mode::Risk;
use crate::origin::ToolOrigin;

/// A call waits for a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PermissionRequest {
    /// The call.
    pub call_id: CallId,
    /// The tool.
    pub tool: String,
    /// Where the tool comes from; absent for what comes with the program.
    #[serde(default, skip_serializing_if = "ToolOrigin::is_built_in")]
    pub origin: ToolOrigin,
    /// The call in one line.
    pub summary: String,
    /// The arguments as they would run.
    pub args: Value,
    /// The command line that would run, for calls that run one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// How much harm it could do.
    pub risk: Risk,
    /// Why it is asked about, a line for each thing: what it does, what a yes opens, then what else is known of it.
    pub reason: String,
    /// The change it would make, where that is known beforehand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diff: Vec<Diff>,
    /// What "for this session" would allow, in words; absent where that is not on offer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_rule: Option<String>,
    /// The rule that "always" would keep, in words; absent where that is not on offer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub always_rule: Option<String>,
    /// The file that "always" would keep that rule in; absent in logs that are older than this, where the rule names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub always_file: Option<String>,
    /// Whether it runs in the sandbox once it is allowed; absent where it runs nothing on this machine, and in logs
    /// that are older than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandboxed: Option<bool>,
    /// Whether that sandbox reaches the network; also true of what runs on another machine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub network: bool,
    /// Whether that sandbox is opened to files that are closed otherwise; the reason names them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub opens: bool,
    /// The calls of the same turn behind it that will be asked about too, as far as that can be told beforehand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ahead: Vec<AskedAhead>,
}

/// A call that a person will be asked about when its turn comes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AskedAhead {
    /// The call.
    pub call_id: CallId,
    /// The call in one line.
    pub summary: String,
    /// How much harm it could do, as things stand now; absent where that shows only when its turn comes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    /// How much of it that line says.
    #[serde(default, skip_serializing_if = "Says::is_part")]
    pub says: Says,
}

/// How much of a call its line says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Says {
    /// Not all, or it is not known: there may be more files.
    #[default]
    Part,
    /// All that would be done.
    Whole,
    /// A command, of which a line shows the beginning.
    Command,
}

impl Says {
    /// What this line says of a call that runs a command or changes so many files: it names one at most.
    #[must_use]
    pub fn of(summary: &str, command: Option<&str>, files: usize) -> Self {
        match command {
            Some(_) => Self::Command,
            None if files > 1 || summary.contains('…') => Self::Part,
            None => Self::Whole,
        }
    }

    fn is_part(&self) -> bool {
        *self == Self::Part
    }
}

impl PermissionRequest {
    /// How much of the call its line says.
    #[must_use]
    pub fn says(&self) -> Says {
        Says::of(&self.summary, self.command.as_deref(), self.diff.len())
    }
}

/// A person decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PermissionDecision {
    /// The call.
    pub call_id: CallId,
    /// What was decided.
    pub decision: Decision,
    /// Who decided; absent in logs that are older than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Actor>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_decided_is_kept_and_missing_in_older_logs() {
        let old = serde_json::json!({ "call_id": "c1", "decision": { "kind": "once" } });
        let read: PermissionDecision = serde_json::from_value(old.clone()).unwrap();
        assert_eq!(read.by.clone().unwrap_or_default(), Actor::Person, "nobody else could decide then");
        assert_eq!(serde_json::to_value(&read).unwrap(), old);
        let by = Some(Actor::Device { name: "phone".to_owned() });
        let json = serde_json::to_value(PermissionDecision { by: by.clone(), ..read }).unwrap();
        assert_eq!(json["by"], serde_json::json!({ "kind": "device", "name": "phone" }));
        assert_eq!(serde_json::from_value::<PermissionDecision>(json).unwrap().by, by);
    }
}
