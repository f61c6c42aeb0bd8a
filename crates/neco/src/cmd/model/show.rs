//! `neco model show`: everything that is known of a model or a group.

use std::fmt::Write;

use neco_config::section::Strategy;
use neco_model::catalogue::Sources;
use neco_model::route::{ModelName, Parameters};
use neco_model::{Description, Models, State};
use serde_json::{Value, json};

use super::facts;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::clean::clean_line;
use crate::print::figures;
use crate::print::paint::Paint;
use crate::say;

/// Prints what `name` stands for.
///
/// # Errors
/// When there is no such model or group.
pub fn run(models: &Models, name: &str, json: bool, paint: Paint) -> Result<Exit, Failure> {
    let (_, strategy) = models.members(name)?;
    let described = models.describe(name)?;
    let group = !name.contains('/');
    match json {
        true => say::out(&as_json(name, group.then_some(strategy), &described))?,
        false => say::lines(&as_lines(name, group.then_some(strategy), &described, paint), facts::HANGING)?,
    }
    Ok(Exit::Done)
}

fn as_lines(name: &str, group: Option<Strategy>, described: &[Description], paint: Paint) -> String {
    let mut text = String::new();
    if let Some(strategy) = group {
        let how = match strategy {
            Strategy::RoundRobin => "in turn",
            Strategy::First => "the first that works",
            Strategy::Cheapest => "the cheapest that works",
        };
        let _ = writeln!(text, "{} · {how} of {}\n", paint.bold(&clean_line(name)), described.len());
    }
    for (at, model) in described.iter().enumerate() {
        let gap = if at > 0 { "\n" } else { "" };
        let _ = writeln!(text, "{gap}{}", paint.cyan(&clean_line(&model.name.label())));
        for (subject, words) in rows(model) {
            let _ = writeln!(text, "  {subject:<11} {}", clean_line(&words));
        }
    }
    text
}

fn rows(model: &Description) -> Vec<(&'static str, String)> {
    let info = &model.info;
    let base = model.base.as_deref().unwrap_or("nowhere: no base is set");
    let keys = match model.keys.as_slice() {
        [] if model.local => "none needed".to_owned(),
        [] => "none".to_owned(),
        keys => keys.join(", "),
    };
    let sizes = format!(
        "{} tokens, of which an answer {}",
        figures::tokens(info.context_window),
        figures::tokens(info.max_output)
    );
    let mut rows = vec![("asked at", format!("{base} ({})", facts::wire(model.wire))), ("key", keys)];
    let parameters = parameters(&model.name.parameters);
    if !parameters.is_empty() {
        rows.push(("parameters", parameters.join(", ")));
    }
    rows.extend([
        ("context", sizes),
        ("price", price(model)),
        ("can", facts::abilities(info)),
        ("known from", known_from(&model.sources, &model.name)),
    ]);
    rows.extend(model.states.iter().map(|(lane, state)| ("state", state_words(lane, state, &model.name))));
    rows
}

fn price(model: &Description) -> String {
    let Some(price) = model.info.price else { return "not known: costs are not shown".to_owned() };
    let dollars = facts::dollars;
    let mut text = format!(
        "{} in, {} out, {} cache read, {} cache write, for a million tokens",
        dollars(price.input),
        dollars(price.output),
        dollars(price.cache_read),
        dollars(price.cache_write)
    );
    if let Some(long) = price.long {
        let over = figures::tokens(long.over);
        let _ = write!(
            text,
            "; over {over} tokens of input {} times the input and {} times the output",
            long.input, long.output
        );
    }
    text
}

fn known_from(sources: &Sources, name: &ModelName) -> String {
    let settings = format!("[models.\"{}\"]", name.label());
    match (&sources.built_in, sources.overridden) {
        (Some(entry), false) => format!("the built-in catalogue ({entry})"),
        (Some(entry), true) => format!("{settings} over the built-in catalogue ({entry})"),
        (None, true) => format!("{settings}, and assumed where that says nothing"),
        (None, false) => format!("nowhere: assumed; set it in {settings}"),
    }
}

fn state_words(lane: &str, state: &State, name: &ModelName) -> String {
    let words = match state {
        State::Ready => "ready".to_owned(),
        State::Rests => "failed; asked last for a while".to_owned(),
        State::Unusable(error) => format!("can't be asked: {error}"),
    };
    // The number of the key, where there are several.
    match lane.strip_prefix(&name.label()).map(str::trim).filter(|rest| !rest.is_empty()) {
        Some(key) => format!("{words} {key}"),
        None => words,
    }
}

fn parameters(parameters: &Parameters) -> Vec<String> {
    let Parameters { temperature, top_p, max_tokens, reasoning, seed } = parameters;
    let set = |name: &str, value: Option<String>| value.map(|value| format!("{name}={value}"));
    [
        set("temperature", temperature.map(|value| value.to_string())),
        set("top_p", top_p.map(|value| value.to_string())),
        set("max_tokens", max_tokens.map(|value| value.to_string())),
        set("reasoning", reasoning.clone()),
        set("seed", seed.map(|value| value.to_string())),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn as_json(name: &str, group: Option<Strategy>, described: &[Description]) -> String {
    let models: Vec<Value> = described.iter().map(model_json).collect();
    format!("{:#}\n", json!({ "name": name, "strategy": group, "models": models }))
}

fn model_json(model: &Description) -> Value {
    let state = |(lane, state): &(String, State)| match state {
        State::Ready => json!({ "name": lane, "state": "ready" }),
        State::Rests => json!({ "name": lane, "state": "rests" }),
        State::Unusable(error) => json!({ "name": lane, "state": "unusable", "reason": error.to_string() }),
    };
    let mut fields = facts::as_json(&model.info);
    let more = [
        ("name", json!(model.name.label())),
        ("provider", json!(model.name.provider)),
        ("base", json!(model.base)),
        ("type", json!(model.wire)),
        ("parameters", json!(parameters(&model.name.parameters))),
        ("key_sources", json!(model.keys)),
        ("catalogue_entry", json!(model.sources.built_in)),
        ("overridden", json!(model.sources.overridden)),
        ("states", model.states.iter().map(state).collect()),
    ];
    fields.extend(more.map(|(name, value)| (name.to_owned(), value)));
    Value::Object(fields)
}
