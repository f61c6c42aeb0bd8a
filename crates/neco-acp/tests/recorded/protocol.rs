//! Messages of the Agent Client Protocol, held against its official schema where that is there.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use jsonschema::Validator;
use serde_json::{Value, json};

/// The official schema, by the methods that it knows: it is no part of the product, and where it is not, nothing is
/// held against it.
struct Schema {
    whole: Value,
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

fn schema() -> Option<&'static Schema> {
    static SCHEMA: OnceLock<Option<Schema>> = OnceLock::new();
    let read = || {
        let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/outside/acp");
        let folder = std::env::var_os("NECO_ACP_SCHEMA").map_or_else(beside, PathBuf::from);
        let Ok(text) = std::fs::read_to_string(folder.join("schema-v1.json")) else {
            let why = format!("no message is held against the schema, as there is none in {}", folder.display());
            // Whoever has what lies beside the repository has the schema, too.
            let is_beside = folder.ancestors().nth(2).is_some_and(Path::is_dir);
            assert!(!is_beside || std::env::var_os("CI").is_none(), "{why}");
            // Past what captures the output of tests that pass.
            let _ = writeln!(std::io::stderr(), "skipped: {why}");
            return None;
        };
        Some(Schema { whole: serde_json::from_str(&text).unwrap(), validators: Mutex::default() })
    };
    SCHEMA.get_or_init(read).as_ref()
}

impl Schema {
    /// What a method of this side is called with, or gives back.
    fn of(&self, side: &str, method: &str, ends: &str) -> Option<Arc<Validator>> {
        let known = self.whole["$defs"].as_object().unwrap();
        let is_it = |name: &str, def: &Value| {
            name.ends_with(ends) && def["x-method"] == method && (def["x-side"] == side || def["x-side"] == "protocol")
        };
        let name = known.iter().find(|(name, def)| is_it(name, def))?.0;
        let mut validators = self.validators.lock().unwrap();
        let validator = validators.entry(name.clone()).or_insert_with(|| {
            let schema = json!({ "$ref": format!("#/$defs/{name}"), "$defs": known });
            Arc::new(jsonschema::validator_for(&schema).unwrap())
        });
        Some(Arc::clone(validator))
    }
}

/// Whose methods a message calls.
#[derive(Clone, Copy)]
pub enum Side {
    Agent,
    Client,
}

/// What the schema does not know: it is no part of the stable protocol.
const UNSTABLE: &[&str] = &["session/fork"];

/// Holds a message against the schema. `asked` are the requests of the other side that it may answer.
#[track_caller]
pub fn check(calls: Side, message: &Value, asked: &[(Value, String)]) {
    let Some(schema) = schema() else { return };
    let (own, other) = match calls {
        Side::Agent => ("agent", "client"),
        Side::Client => ("client", "agent"),
    };
    assert_eq!(message["jsonrpc"], "2.0", "{message}");
    let (side, method, ends, value) = match message["method"].as_str() {
        Some(method) if message.get("id").is_some() => (own, method, "Request", &message["params"]),
        Some(method) => (own, method, "Notification", &message["params"]),
        None => {
            let method = asked.iter().find(|(id, _)| *id == message["id"]);
            let Some((_, method)) = method else { panic!("nobody asked for this: {message}") };
            if let Some(error) = message.get("error") {
                assert!(error["code"].is_i64() && error["message"].is_string(), "{message}");
                return;
            }
            (other, method.as_str(), "Response", &message["result"])
        }
    };
    if UNSTABLE.contains(&method) {
        return;
    }
    let Some(validator) = schema.of(side, method, ends) else {
        panic!("the schema has no {method} ({ends}) of the {side}: {message}");
    };
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{method}: {errors:#?}\n{message:#}");
}
