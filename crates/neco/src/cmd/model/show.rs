//! `neco model show`: everything that is known of a model or a group.

use std::fmt::Write;

use neco_config::Env;
use neco_proto::app::models::{ModelDescription, ModelState, Readiness, ShowModel, ShownModel, Strategy};
use serde_json::json;

use super::facts;
use crate::args::EverywhereArgs;
use crate::cmd::program::{ask, folder, notes};
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
pub fn run(name: &str, json: bool, everywhere: &EverywhereArgs, env: &Env, paint: Paint) -> Result<Exit, Failure> {
    let request = ShowModel { folder: folder(everywhere)?, name: Some(name.to_owned()) };
    let mut shown = ask(&request, everywhere, env)?;
    notes(&std::mem::take(&mut shown.warnings));
    match json {
        true => say::out(&as_json(shown))?,
        false => say::lines(&as_lines(&shown, paint), facts::HANGING)?,
    }
    Ok(Exit::Done)
}

fn as_lines(shown: &ShownModel, paint: Paint) -> String {
    let mut text = String::new();
    if let Some(strategy) = shown.strategy {
        let how = match strategy {
            Strategy::RoundRobin => "in turn",
            Strategy::First => "the first that works",
            Strategy::Cheapest => "the cheapest that works",
        };
        let _ = writeln!(text, "{} · {how} of {}\n", paint.bold(&clean_line(&shown.name)), shown.models.len());
    }
    for (at, model) in shown.models.iter().enumerate() {
        let gap = if at > 0 { "\n" } else { "" };
        let _ = writeln!(text, "{gap}{}", paint.cyan(&clean_line(&model.name)));
        for (subject, words) in rows(model) {
            let _ = writeln!(text, "  {subject:<11} {}", clean_line(&words));
        }
    }
    text
}

fn rows(model: &ModelDescription) -> Vec<(&'static str, String)> {
    let info = &model.facts;
    let base = model.base.as_deref().unwrap_or("nowhere: no base is set");
    let keys = match model.key_sources.as_slice() {
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
    if !model.parameters.is_empty() {
        rows.push(("parameters", model.parameters.join(", ")));
    }
    rows.extend([
        ("context", sizes),
        ("price", price(model)),
        ("can", facts::abilities(info)),
        ("known from", known_from(model)),
    ]);
    rows.extend(model.states.iter().map(|state| ("state", state_words(state, &model.name))));
    rows
}

fn price(model: &ModelDescription) -> String {
    let facts = &model.facts;
    let prices = [facts.input_price, facts.output_price, facts.cache_read_price, facts.cache_write_price];
    let [Some(input), Some(output), Some(read), Some(write)] = prices.map(|price| price.map(facts::dollars)) else {
        return "not known: costs are not shown".to_owned();
    };
    let mut text = format!("{input} in, {output} out, {read} cache read, {write} cache write, for a million tokens");
    if let Some(long) = facts.long_prompt {
        let over = figures::tokens(long.over);
        let _ = write!(
            text,
            "; over {over} tokens of input {} times the input and {} times the output",
            long.input_times, long.output_times
        );
    }
    text
}

fn known_from(model: &ModelDescription) -> String {
    let settings = format!("[models.\"{}\"]", model.name);
    match (&model.catalogue_entry, model.overridden) {
        (Some(entry), false) => format!("the built-in catalogue ({entry})"),
        (Some(entry), true) => format!("{settings} over the built-in catalogue ({entry})"),
        (None, true) => format!("{settings}, and assumed where that says nothing"),
        (None, false) => format!("nowhere: assumed; set it in {settings}"),
    }
}

fn state_words(state: &ModelState, model: &str) -> String {
    let words = match state.state {
        Readiness::Ready => "ready".to_owned(),
        Readiness::Rests => "failed; asked last for a while".to_owned(),
        Readiness::Unusable => format!("can't be asked: {}", state.reason.as_deref().unwrap_or_default()),
    };
    // The number of the key, where there are several.
    match state.name.strip_prefix(model).map(str::trim).filter(|rest| !rest.is_empty()) {
        Some(key) => format!("{words} {key}"),
        None => words,
    }
}

fn as_json(mut shown: ShownModel) -> String {
    // Programs see that by the address.
    shown.models.iter_mut().for_each(|model| model.local = false);
    format!("{:#}\n", json!(shown))
}
