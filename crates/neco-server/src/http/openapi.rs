//! The description of the API, OpenAPI 3.1: from the same table that its routes come from.

use neco_proto::app::opening::OpenSession;
use neco_proto::app::{Described, Scope, Verb};
use neco_proto::{Command, Event, Query, SessionSnapshot};
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use super::sessions;
use crate::remote::frames::Opened;

/// All of it.
pub(crate) fn description(calls: &[Described], version: &str) -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    settings.meta_schema = None;
    let mut generator = settings.into_generator();
    let mut paths = Map::new();
    for described in calls {
        let route = described.route;
        let verb = match route.verb {
            Verb::Get => "get",
            Verb::Post => "post",
            Verb::Put => "put",
            Verb::Delete => "delete",
        };
        let (request, answer) = ((described.request)(&mut generator), (described.answer)(&mut generator));
        let mut operation = operation(route.name, "", &answer.into());
        let about = about(&generator, &request.clone().into());
        let item = described.item.map(|item| Value::from(item(&mut generator)));
        if let Some(all) = operation.as_object_mut() {
            all.insert("summary".to_owned(), json!(about));
            all.insert("x-neco-scope".to_owned(), json!(route.scope));
            all.insert("x-neco-repeatable".to_owned(), json!(route.repeatable));
            if let Some(item) = item {
                all.insert("x-neco-item".to_owned(), item);
            }
            let mut parameters = path_parameters(route.path);
            if matches!(route.verb, Verb::Get) {
                parameters.extend(query_parameters(&generator, &request.into(), route.path));
            } else {
                parameters.push(json!({ "$ref": ONCE }));
                all.insert("requestBody".to_owned(), body(&request.into(), false));
            }
            all.insert("parameters".to_owned(), json!(parameters));
        }
        put(&mut paths, route.path, verb, operation);
    }
    for (path, verb, name, about) in sessions::ROUTES {
        let (request, answer) = of_session(name, &mut generator);
        let mut operation = operation(name, about, &answer);
        if let Some(all) = operation.as_object_mut() {
            let scope = if *verb == "get" || *name == "sessions.ask" { Scope::Read } else { Scope::Work };
            all.insert("x-neco-scope".to_owned(), json!(scope));
            let more = match *name {
                "sessions.events" => of_events(),
                _ if *verb == "post" && *name != "sessions.ask" => vec![json!({ "$ref": ONCE })],
                _ => Vec::new(),
            };
            all.insert("parameters".to_owned(), json!([path_parameters(path), more].concat()));
            request.iter().for_each(|request| {
                all.insert("requestBody".to_owned(), body(request, *name != "sessions.open"));
            });
        }
        put(&mut paths, path, verb, operation);
    }
    put(&mut paths, "/ws", "get", socket());
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Neco", "version": version },
        "servers": [{ "url": "/api/v1" }],
        "security": [{ "token": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "parameters": { "once": {
                "name": "Idempotency-Key", "in": "header", "schema": { "type": "string" },
                "description": "What is written with the same key again is done once.",
            } },
            "schemas": generator.take_definitions(true),
        },
    })
}

/// What is said and answered at a route of sessions.
fn of_session(name: &str, generator: &mut SchemaGenerator) -> (Option<Value>, Value) {
    fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
        generator.subschema_for::<T>().into()
    }
    let object = |properties: Value| json!({ "type": "object", "properties": properties });
    match name {
        "sessions.open" => (Some(of::<OpenSession>(generator)), of::<Opened>(generator)),
        "sessions.show" => (None, of::<SessionSnapshot>(generator)),
        "sessions.send" => {
            let taken = json!({ "session": { "type": "string" }, "seq": { "type": "integer" }, "message_id": {} });
            (Some(of::<Command>(generator)), object(taken))
        }
        "sessions.ask" => (Some(of::<Query>(generator)), of::<neco_proto::Answer>(generator)),
        "sessions.events" => {
            let event = of::<Event>(generator);
            let page = json!({
                "events": { "type": "array", "items": event }, "next": { "type": "integer" }, "more": { "type": "boolean" },
            });
            (None, object(page))
        }
        _ => (None, object(json!({ "session": { "type": "string" } }))),
    }
}

fn operation(name: &str, about: &str, answer: &Value) -> Value {
    json!({
        "operationId": name,
        "summary": about,
        "responses": {
            "2XX": { "description": "Done.", "content": { "application/json": { "schema": answer } } },
            "default": { "description": "Why not.", "content": { "application/problem+json": {} } },
        },
    })
}

fn body(schema: &Value, required: bool) -> Value {
    json!({ "required": required, "content": { "application/json": { "schema": schema } } })
}

/// The fields in a path.
fn path_parameters(path: &str) -> Vec<Value> {
    let fields = path.split('{').skip(1).filter_map(|rest| rest.split('}').next());
    fields.map(|name| json!({ "name": name, "in": "path", "required": true, "schema": {} })).collect()
}

/// Where it is described that a write can be done once.
const ONCE: &str = "#/components/parameters/once";

/// The fields of a request that stand in a query: all that its path does not have.
fn query_parameters(generator: &SchemaGenerator, schema: &Value, path: &str) -> Vec<Value> {
    let defined = defined(generator, schema);
    let is_needed = |name: &str| {
        defined.get("required").and_then(Value::as_array).is_some_and(|names| names.iter().any(|one| one == name))
    };
    let fields = defined.get("properties").and_then(Value::as_object).into_iter().flatten();
    let in_query = fields.filter(|(name, _)| !path.contains(&format!("{{{name}}}")));
    let parameter = |(name, field): (&String, &Value)| {
        let about = field.get("description").cloned().unwrap_or_default();
        json!({ "name": name, "in": "query", "required": is_needed(name), "description": about, "schema": field })
    };
    in_query.map(parameter).collect()
}

/// What the events of a session are asked with.
fn of_events() -> Vec<Value> {
    let whole = |name: &str, place: &str, about: &str| {
        json!({ "name": name, "in": place, "description": about, "schema": { "type": "integer", "minimum": 0 } })
    };
    vec![
        whole("since", "query", "Only events after the one with this seq."),
        whole("limit", "query", "How many of them a page has at most, up to 500."),
        whole("Last-Event-ID", "header", "The same as since, which it outranks: a reader of a stream comes back with it."),
    ]
}

/// The WebSocket, whose messages are no requests of HTTP.
fn socket() -> Value {
    json!({
        "operationId": "ws",
        "summary": "A WebSocket for many sessions: JSON objects with an `id`, the first of which is a hello",
        "parameters": [{
            "name": "Sec-WebSocket-Protocol", "in": "header", "schema": { "type": "string" },
            "description": "neco.v1, and neco.tab. with the token of a browser's tab.",
        }],
        "responses": {
            "101": { "description": "It is open." },
            "default": { "description": "Why not.", "content": { "application/problem+json": {} } },
        },
    })
}

/// What a schema refers to.
fn defined<'a>(generator: &'a SchemaGenerator, schema: &'a Value) -> &'a Value {
    let name = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
    name.and_then(|name| generator.definitions().get(name)).unwrap_or(schema)
}

/// What the doc comment of a request says, without what follows its first sentence.
fn about(generator: &SchemaGenerator, schema: &Value) -> String {
    let words = defined(generator, schema).get("description").and_then(Value::as_str).unwrap_or_default();
    words.split(". ").next().unwrap_or_default().trim_end_matches('.').to_owned()
}

fn put(paths: &mut Map<String, Value>, path: &str, verb: &str, operation: Value) {
    let item = paths.entry(path).or_insert_with(|| json!({}));
    if let Some(item) = item.as_object_mut() {
        item.insert(verb.to_owned(), operation);
    }
}
