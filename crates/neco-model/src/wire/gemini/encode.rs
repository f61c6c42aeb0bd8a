//! The request. A message is serialised once in its life; a request is a list of shared pieces.

use bytes::Bytes;
use http::HeaderName;
use serde_json::{Map, Value, json};

use super::decode::GeminiDecoder;
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
        let Parameters { temperature: _, top_p, max_tokens: _, seed, reasoning: _ } = &self.target.parameters;
        // Models before Gemini 3 refuse a form of the answer beside tools.
        let output = request.output.as_deref().filter(|_| request.tools.is_empty() || self.wants_signatures);
        let settings = [
            ("temperature", self.target.temperature(request).map(Value::from)),
            ("topP", top_p.map(Value::from)),
            ("maxOutputTokens", self.target.max_tokens(request).map(Value::from)),
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
        list(head, &adapt(&request.history, &request.tools, &self.taker), |sent, before| {
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

/// A generation, as `2.5` is written in a model's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Generation(u32, u32);

/// The first that thinks.
const THINKING: Generation = Generation(2, 5);
/// The first that is told by a level how much to think, and that refuses calls without a signature.
const SIGNED: Generation = Generation(3, 0);
/// What names without a number stand for, such as `gemini-flash-latest`.
const NEWEST: Generation = Generation(u32::MAX, 0);

impl Generation {
    /// The generation of `model`; none when it is of another family.
    pub(super) fn of(model: &str) -> Option<Self> {
        let (_, rest) = model.split_once("gemini-")?;
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, _) = rest.split_at_checked(end)?;
        let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
        match (major.parse(), minor.parse()) {
            (Ok(major), Ok(minor)) => Some(Self(major, minor)),
            _ => Some(NEWEST),
        }
    }

    /// Whether the first call of every answer must have a signature when it goes back.
    pub(super) fn wants_signatures(self) -> bool {
        self >= SIGNED
    }
}

/// The `thinkingConfig` for a model; none when it does not think.
pub(super) fn thinking(target: &Target) -> Option<Value> {
    let generation = Generation::of(&target.model).filter(|generation| *generation >= THINKING)?;
    let Some(effort) = target.parameters.reasoning.as_deref() else {
        let thinks = target.info.reasoning || !target.info.known;
        return thinks.then(|| json!({ "includeThoughts": true }));
    };
    if generation >= SIGNED {
        return Some(json!({ "includeThoughts": true, "thinkingLevel": level(effort, &target.model) }));
    }
    Some(match budget(effort, &target.model) {
        // Thoughts can't be shown where there are none.
        0 => json!({ "thinkingBudget": 0 }),
        budget => json!({ "includeThoughts": true, "thinkingBudget": budget }),
    })
}

fn level(effort: &str, model: &str) -> &'static str {
    match effort {
        "none" | "minimal" if model.contains("flash") => "minimal",
        // The larger models can't think less than this.
        "none" | "minimal" | "low" => "low",
        "medium" => "medium",
        _ => "high",
    }
}

/// The tokens that the vendor itself takes an effort to mean.
fn budget(effort: &str, model: &str) -> u32 {
    let large = model.contains("pro");
    match effort {
        // The larger model can't be kept from thinking.
        "none" if large => 128,
        "none" => 0,
        "minimal" | "low" => 1024,
        "medium" => 8192,
        "xhigh" | "max" if large => 32768,
        _ => 24576,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::Parameters;

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

    fn thinking_of(model: &str, effort: Option<&str>) -> Option<Value> {
        let parameters = Parameters { reasoning: effort.map(str::to_owned), ..Parameters::default() };
        thinking(&Target { parameters, ..Target::new("gemini", model) })
    }

    #[test]
    fn generations_are_read_from_names() {
        assert_eq!(Generation::of("gemini-2.5-flash-lite"), Some(Generation(2, 5)));
        assert_eq!(Generation::of("models/gemini-3-pro-preview"), Some(Generation(3, 0)));
        assert_eq!(Generation::of("gemini-3.1-pro"), Some(Generation(3, 1)));
        assert_eq!(Generation::of("gemini-flash-latest"), Some(NEWEST));
        assert_eq!(Generation::of("gemma-3-27b"), None);
    }

    #[test]
    fn each_generation_is_asked_in_its_way() {
        assert_eq!(thinking_of("gemini-2.0-flash", Some("high")), None);
        assert_eq!(thinking_of("gemini-2.5-flash", None), Some(json!({ "includeThoughts": true })));
        assert_eq!(thinking_of("gemini-2.5-flash", Some("none")), Some(json!({ "thinkingBudget": 0 })));
        let budget = json!({ "includeThoughts": true, "thinkingBudget": 128 });
        assert_eq!(thinking_of("gemini-2.5-pro", Some("none")), Some(budget));
        let level = |level: &str| Some(json!({ "includeThoughts": true, "thinkingLevel": level }));
        assert_eq!(thinking_of("gemini-3-flash-preview", Some("none")), level("minimal"));
        assert_eq!(thinking_of("gemini-3-pro-preview", Some("minimal")), level("low"));
        assert_eq!(thinking_of("gemini-3-pro-preview", Some("max")), level("high"));
    }
}
