//! The request. A message is serialised once in its life; a request is a list of shared pieces.

use bytes::Bytes;
use http::HeaderName;
use serde_json::{Map, Value, json};

use super::decode::GeminiDecoder;
use super::generation::{Generation, thinking};
use super::{contents, problem};
use crate::adapt::{CallIds, Taker, adapt};
use crate::request::{Request, ToolDeclaration};
use crate::route::Parameters;
use crate::wire::format::{Auth, Decoder, Delivery, Problem, Wire};
use crate::wire::heads::Heads;
use crate::wire::kept::list;
use crate::wire::target::{Target, path_segment};

/// The longest id of a call that is sent.
const LONGEST_ID: usize = 64;

/// The format bound to one model.
pub struct Gemini {
    target: Target,
    taker: Taker,
    path: String,
    path_whole: String,
    wants_signatures: bool,
    heads: Heads,
}

impl Gemini {
    /// The format for `target`.
    pub fn bound_to(target: Target) -> Self {
        let model = target.model.strip_prefix("models/").unwrap_or(&target.model);
        let place = format!("/models/{}", path_segment(model));
        let (path, path_whole) = (format!("{place}:streamGenerateContent?alt=sse"), format!("{place}:generateContent"));
        let wants_signatures = Generation::of(model).is_some_and(Generation::wants_signatures);
        let taker = Taker { gif: false, ..Taker::new(&target, CallIds::Words(LONGEST_ID)) };
        Self { target, taker, path, path_whole, wants_signatures, heads: Heads::default() }
    }

    fn encode_head(&self, request: &Request) -> Bytes {
        let mut fields = Map::new();
        if !request.system.is_empty() {
            let system = json!({ "parts": [{ "text": &*request.system }] });
            fields.insert("systemInstruction".to_owned(), system);
        }
        if !request.tools.is_empty() {
            let tools: Vec<Value> = request.tools.iter().map(tool).collect();
            fields.insert("tools".to_owned(), json!([{ "functionDeclarations": tools }]));
        }
        let settings = self.settings(request);
        if !settings.is_empty() {
            fields.insert("generationConfig".to_owned(), settings.into());
        }
        let mut bytes = serde_json::to_vec(&fields).unwrap_or_default();
        bytes.pop();
        if !fields.is_empty() {
            bytes.push(b',');
        }
        bytes.extend_from_slice(b"\"contents\":[");
        bytes.into()
    }

    fn settings(&self, request: &Request) -> Map<String, Value> {
        let Parameters { temperature: _, top_p, max_tokens, seed, reasoning: _ } = &self.target.parameters;
        // Models before Gemini 3 refuse a form of the answer beside tools.
        let output = request.output.as_deref().filter(|_| request.tools.is_empty() || self.wants_signatures);
        let settings = [
            ("temperature", self.target.temperature(request).map(Value::from)),
            ("topP", top_p.map(Value::from)),
            ("maxOutputTokens", max_tokens.map(Value::from)),
            ("seed", seed.map(Value::from)),
            ("thinkingConfig", thinking(&self.target)),
            ("responseMimeType", output.map(|_| "application/json".into())),
            ("responseJsonSchema", output.map(|output| accepted(&output.schema))),
        ];
        settings.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}

impl Wire for Gemini {
    fn path(&self) -> &str {
        &self.path
    }

    fn path_whole(&self) -> &str {
        &self.path_whole
    }

    fn auth(&self) -> Auth {
        Auth::Header(HeaderName::from_static("x-goog-api-key"))
    }

    fn sees(&self, media_type: &str) -> bool {
        self.taker.sees(media_type)
    }

    fn encode_as(&self, request: &Request, delivery: Delivery) -> Vec<Bytes> {
        let head = self.heads.of(request, delivery, |request| self.encode_head(request));
        let form = if self.wants_signatures { "gemini, signed" } else { "gemini" };
        list(head, &adapt(&request.history, &self.taker), |sent, before| {
            sent.encoded(form, |message| contents::encode(message, before, self.wants_signatures))
        })
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::<GeminiDecoder>::default()
    }

    fn problem(&self, status: u16, body: &[u8]) -> Problem {
        problem::of_answer(status, body)
    }
}

fn tool(declaration: &ToolDeclaration) -> Value {
    let ToolDeclaration { name, description, schema } = declaration;
    json!({ "name": name, "description": description, "parametersJsonSchema": accepted(schema) })
}

/// `schema` in the form that is understood.
/// It goes as `parametersJsonSchema`, which takes JSON schema with references, unions and maps. The older
/// `parameters` takes a dialect of its own that most of this would have to be cut out of. What is left to do: a
/// reference may have nothing beside it, `const` is not known, and `$schema` says nothing.
fn accepted(schema: &Value) -> Value {
    let Value::Object(fields) = schema else { return schema.clone() };
    let mut accepted = Map::new();
    for (name, value) in fields {
        match name.as_str() {
            "$schema" => {}
            // What must be one thing need not be one of several.
            "enum" if fields.contains_key("const") => {}
            "const" => {
                accepted.insert("enum".to_owned(), json!([value]));
            }
            "$ref" if fields.len() > 1 => {
                let taken = fields.contains_key("anyOf");
                accepted.insert(if taken { "allOf" } else { "anyOf" }.to_owned(), json!([{ "$ref": value }]));
            }
            "allOf" if fields.contains_key("$ref") && fields.contains_key("anyOf") => {}
            _ => {
                accepted.insert(name.clone(), inner(name, value));
            }
        }
    }
    if let (Some(Value::Array(all)), Some(Value::Array(own)), true) =
        (accepted.get_mut("allOf"), fields.get("allOf"), fields.contains_key("$ref") && fields.contains_key("anyOf"))
    {
        all.extend(own.iter().map(self::accepted));
    }
    Value::Object(accepted)
}

/// The value of a keyword, which may hold schemas.
fn inner(keyword: &str, value: &Value) -> Value {
    match (keyword, value) {
        ("properties" | "patternProperties" | "$defs" | "definitions", Value::Object(named)) => {
            named.iter().map(|(name, schema)| (name.clone(), accepted(schema))).collect()
        }
        ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => schemas.iter().map(accepted).collect(),
        ("items" | "additionalProperties" | "not", schema) => accepted(schema),
        (_, value) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_understood_is_said_otherwise() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "const": { "$ref": "#/$defs/Mode", "description": "How." },
                "list": { "type": "array", "items": { "$ref": "#/$defs/Mode" } },
                "map": { "type": "object", "additionalProperties": { "type": "string" } },
            },
            "required": ["const"],
            "additionalProperties": false,
            "$defs": { "Mode": { "oneOf": [{ "const": "a", "description": "One." }, { "const": "b" }] } },
        });
        let wanted = json!({
            "type": "object",
            "properties": {
                "const": { "anyOf": [{ "$ref": "#/$defs/Mode" }], "description": "How." },
                "list": { "type": "array", "items": { "$ref": "#/$defs/Mode" } },
                "map": { "type": "object", "additionalProperties": { "type": "string" } },
            },
            "required": ["const"],
            "additionalProperties": false,
            "$defs": { "Mode": { "oneOf": [{ "enum": ["a"], "description": "One." }, { "enum": ["b"] }] } },
        });
        assert_eq!(accepted(&schema), wanted);
    }
}
