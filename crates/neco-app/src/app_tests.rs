//! Answers can be read that a newer version gives: what their schemas hold that may grow.

use std::collections::BTreeMap;

use neco_proto::app::{Known, Origin};
use serde::de::DeserializeOwned;
use serde_json::json;

use super::*;

/// Words of sessions, which events, commands and answers to queries have too, and rules: a new one of them is a new
/// word everywhere, and a matter of the protocol's version. A code is read where it is known.
const OF_SESSIONS: &[&str] = &[
    "ErrorCode",
    "FileChangeKind",
    "MemoryAction",
    "MemoryScope",
    "Mode",
    "NodeResult",
    "NodeState",
    "NodeType",
    "PlanStatus",
    "RewindKind",
    "RewindWhat",
    "Risk",
    "RuleSource",
    "Ruling",
    "TaskKind",
    "TaskState",
    "TitleSource",
    "WorkflowState",
];

/// Whether a value can be read that nobody has thought of yet, by the names of enums in schemas.
fn growing() -> BTreeMap<&'static str, bool> {
    let newer = json!("from_the_future");
    let kind = json!({ "kind": "from_the_future", "moon": "full" });
    let other = json!({ "from_the_future": { "moon": "full" } });
    BTreeMap::from([
        ("FoundRole", reads::<FoundRole>(&newer)),
        ("Health", reads::<Health>(&newer)),
        ("ImportNote", reads::<ImportNote>(&kind)),
        ("Level", reads::<Level>(&newer)),
        ("LineChange", reads::<LineChange>(&newer)),
        ("ModelTest", reads::<ModelTest>(&other)),
        ("Origin", reads::<Origin>(&newer)),
        ("PlaceNote", reads::<PlaceNote>(&kind)),
        ("ProviderStanding", reads::<ProviderStanding>(&kind)),
        ("Readiness", reads::<Readiness>(&newer)),
        ("ServerLogin", reads::<ServerLogin>(&other)),
        ("ServerState", reads::<ServerState>(&newer)),
        ("ServerTest", reads::<ServerTest>(&other)),
        ("ServerTransport", reads::<ServerTransport>(&newer)),
        ("SessionState", reads::<SessionState>(&newer)),
        ("ShellNews", reads::<ShellNews>(&json!({ "type": "from_the_future", "moon": "full" }))),
        ("Trouble", reads::<Trouble>(&newer)),
        ("TrustState", reads::<TrustState>(&newer)),
        ("WorktreeState", reads::<WorktreeState>(&newer)),
    ])
}

fn reads<T: DeserializeOwned>(value: &Value) -> bool {
    T::deserialize(value).is_ok()
}

/// The enums of a schema by name, without those that only stand in a [`Known`], which keeps what it does not know.
fn enums(schema: &Value) -> Vec<String> {
    let is_enum = |schema: &Value| ["enum", "oneOf", "anyOf"].iter().any(|word| schema.get(word).is_some());
    let mut schema = schema.clone();
    let mut all = schema.as_object_mut().and_then(|schema| schema.remove("$defs")).unwrap_or_default();
    if let Some(all) = all.as_object_mut() {
        all.retain(|name, _| !name.starts_with("Known"));
    }
    let said = format!("{schema}{all}");
    let defined = all
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, schema)| is_enum(schema) && said.contains(&format!("\"#/$defs/{name}\"")));
    let own = schema.get("title").and_then(Value::as_str).filter(|_| is_enum(&schema));
    defined.map(|(name, _)| name.clone()).chain(own.map(str::to_owned)).collect()
}

#[test]
fn a_word_of_a_newer_version_is_kept_where_requests_refuse_it() {
    let newer = json!("from_the_future");
    assert!(reads::<Known<KeyPlace>>(&newer) && !reads::<KeyPlace>(&newer));
    assert_eq!(enums(schemars::schema_for!(KeyList).as_value()), Vec::<String>::new());
    let direct = schemars::schema_for!((Known<MemoryReach>, MemoryReach));
    assert_eq!(enums(direct.as_value()), ["MemoryReach"]);
}

#[test]
fn a_value_of_a_newer_version_can_be_read_in_every_answer() {
    let growing = growing();
    let is_read = |found: &str| growing.get(found).copied().unwrap_or(OF_SESSIONS.contains(&found));
    let all = answers().into_iter().chain(items());
    let all = all.flat_map(|(name, schema)| enums(schema.as_value()).into_iter().map(move |found| (found, name)));
    let stuck: BTreeMap<String, &str> = all.filter(|(found, _)| !is_read(found)).collect();
    assert!(stuck.is_empty(), "no value for what only a newer version knows, and an answer with each: {stuck:#?}");
}
