//! What all agents of a session share: typed values, each with a version, set one after the other.

use neco_proto::event::SharedStateUpdate;
use neco_proto::{AgentId, ErrorCode, EventBody};
use neco_toolkit::ToolError;
use serde_json::Value;

use super::supervisor::AgentSupervisor;
use crate::fold::SharedState;

/// The longest name of a value.
const LONGEST_KEY: usize = 64;
/// The most bytes of a value, as JSON: it is for what agents tell each other, not for files.
const BIGGEST: usize = 32 * 1024;
/// The most values.
const MOST: usize = 256;
/// The most keys, with those that were removed, whose versions are known for good.
const MOST_KEYS: usize = 1024;

/// What an agent wants to become of a value.
pub(super) struct SharedChange {
    pub key: String,
    /// The new value; null removes it.
    pub value: Value,
    /// The version that it must have; 0 when it must not be there.
    pub expected: Option<u64>,
}

impl AgentSupervisor {
    /// What the agents of the session share now.
    pub(super) fn shared(&self) -> SharedState {
        self.journal.standing().shared
    }

    /// Sets or removes a value; gives its version from now on.
    /// Fails when it is not as it was expected, or the new value is of another type or too big.
    pub(super) async fn share(&self, agent: AgentId, change: SharedChange) -> Result<u64, ToolError> {
        let done = self.to_the_end(move |supervisor| async move { Ok(supervisor.share_now(agent, change).await) });
        done.await.unwrap_or_else(|error| Err(ToolError::failed(error.to_string())))
    }

    async fn share_now(&self, agent: AgentId, change: SharedChange) -> Result<u64, ToolError> {
        // Nobody comes between the look and the change.
        let _alone = self.sharing.lock().await;
        change.check(&self.shared())?;
        let SharedChange { key, value, .. } = change;
        let version = self.shared().last(&key).map_or(0, |last| last.version) + 1;
        let writer = self.lock().await.tree.node(agent).map(|node| node.name.clone()).unwrap_or_default();
        let value = Some(value).filter(|value| !value.is_null());
        let update = EventBody::SharedState(SharedStateUpdate { key, value, version, writer });
        let kept = self.journal.commit(agent, None, update).await;
        kept.map(|()| version).map_err(|error| ToolError::failed(error.to_string()))
    }
}

impl SharedChange {
    fn check(&self, shared: &SharedState) -> Result<(), ToolError> {
        let Self { key, value, expected } = self;
        let is_key = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | '.' | '/');
        if key.is_empty() || key.len() > LONGEST_KEY || !key.chars().all(is_key) {
            let words = format!("{key:?} is no key: letters, digits, _, -, . and /, at most {LONGEST_KEY}");
            return Err(ToolError::new(ErrorCode::InvalidArguments, words));
        }
        let last = shared.last(key);
        let present = last.and_then(|last| Some((last, last.value.as_ref()?)));
        if let Some(expected) = expected {
            let found = present.map_or(0, |(last, _)| last.version);
            if found != *expected {
                return Err(ToolError::failed(changed(key, *expected, present.map(|(last, _)| last))));
            }
        }
        match present {
            None if value.is_null() => Err(ToolError::failed(format!("there is no value {key} to remove"))),
            None if shared.iter().count() >= MOST => Err(ToolError::failed(format!(
                "{MOST} values are shared, which is the most: remove one with null first"
            ))),
            None if last.is_none() && shared.key_count() >= MOST_KEYS => Err(ToolError::failed(format!(
                "{MOST_KEYS} keys were used in this session, which is the most: use one of them again"
            ))),
            Some((_, present)) if !value.is_null() && kind(present) != kind(value) => Err(ToolError::failed(format!(
                "{key} is {}, and this would be {}: set it to null first if it is to be something else",
                kind(present),
                kind(value)
            ))),
            None | Some(_) if value.to_string().len() > BIGGEST => Err(ToolError::failed(format!(
                "the value of {key} would be bigger than {BIGGEST} bytes: write it to a file, and share its path"
            ))),
            None | Some(_) => Ok(()),
        }
    }
}

/// That a value is not as somebody expected it to be.
fn changed(key: &str, expected: u64, present: Option<&SharedStateUpdate>) -> String {
    match present {
        Some(last) => format!(
            "{key} is at version {} (by {}), and not at {expected}: somebody else set it meanwhile. Look at it with \
             state_get, then decide again",
            last.version, last.writer
        ),
        None => format!(
            "there is no value {key}, so it is not at version {expected}: leave expected_version out, or give 0"
        ),
    }
}

/// What a value is, in words.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_bounded_also_when_each_is_removed_again() {
        let mut shared = SharedState::default();
        for number in 0..MOST_KEYS {
            let key = format!("key{number}");
            shared.apply(&SharedStateUpdate { key, value: None, version: 2, writer: "root".to_owned() });
        }
        let change = |key: &str| SharedChange { key: key.to_owned(), value: Value::from(1), expected: None };
        assert!(change("key7").check(&shared).is_ok(), "one that was removed can be there again");
        let refused = change("other").check(&shared).unwrap_err();
        assert!(refused.message.contains("1024 keys were used"), "{}", refused.message);
    }
}
