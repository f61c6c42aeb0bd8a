//! The models that can be asked, and what is known of one, as lines.

use std::fmt::Write;
use std::time::Duration;

use neco_proto::app::Known;
use neco_proto::app::models::{
    ModelDescription, ModelFacts, ModelList, ModelRow, ModelState, ProviderRow, ProviderStanding, ProviderType,
    Readiness, ShownModel, Strategy, TestedModel,
};
use neco_proto::clean::clean_line;

use crate::figures;
use crate::paint::colour::Paint;
use crate::wording::told::NEWER;

/// Columns before what follows a line that is too wide.
pub const HANGING: usize = 14;

/// How a provider stands.
pub fn standing(standing: &ProviderStanding) -> String {
    let at = |base: &Option<String>| base.clone().unwrap_or_else(|| "an address of your own".to_owned());
    match standing {
        ProviderStanding::Script => "plays a script; it is not a model".to_owned(),
        ProviderStanding::Answers { base } => format!("answers at {base}"),
        ProviderStanding::Silent { base } => format!("does not answer at {}", at(base)),
        ProviderStanding::Key { sources } => format!("key: {}", sources.join(", ")),
        ProviderStanding::NoKeyNeeded { base } => format!("at {}, without a key", at(base)),
        ProviderStanding::KeyMissing { variables } => format!("needs a key: set {}", variables.join(" or ")),
        ProviderStanding::Other => NEWER.to_owned(),
    }
}

/// The models of a provider, with the names that it has for them.
fn models_of<'a>(list: &'a ModelList, provider: &ProviderRow) -> Vec<(&'a str, &'a ModelRow)> {
    let of_it = |name: &'a str| name.strip_prefix(&provider.name)?.strip_prefix('/');
    list.models.iter().filter_map(|model| Some((of_it(&model.name)?, model))).collect()
}

/// The list for a person.
pub fn as_lines(list: &ModelList, paint: Paint) -> String {
    let mut text = String::new();
    for (name, group) in &list.groups {
        let models: Vec<String> = group.models.iter().map(|model| clean_line(model)).collect();
        let _ = writeln!(text, "{}  {}", paint.bold(&format!("{:<9}", clean_line(name))), models.join(", "));
    }
    let shelves: Vec<_> = list.providers.iter().map(|provider| (provider, models_of(list, provider))).collect();
    let names = shelves.iter().flat_map(|(_, models)| models).map(|(name, _)| name.chars().count());
    let width = names.max().unwrap_or_default().clamp(5, 40);
    for (provider, models) in shelves {
        let gap = if text.is_empty() { "" } else { "\n" };
        let (name, words) = (clean_line(&provider.name), clean_line(&standing(&provider.standing)));
        let title = provider.title.as_deref().map(|title| format!(" ({})", clean_line(title))).unwrap_or_default();
        let _ = writeln!(text, "{gap}{}{title} · {words}", paint.cyan(&name));
        if models.is_empty() {
            let _ = writeln!(text, "  no model is listed; any works as {name}/MODEL");
            continue;
        }
        let head = format!("  {:<width$}  {:>8}  {:>8}  {:<16}  can", "model", "context", "output", "$ in / out per M");
        let _ = writeln!(text, "{}", paint.dim(&head));
        for (name, model) in models {
            let mark = if model.default { "*" } else { " " };
            let _ = writeln!(text, "{mark}{}", line(name, model, width));
        }
    }
    if list.hidden > 0 {
        let gap = if text.is_empty() { "" } else { "\n" };
        let words = format!("{} more need a key or a server: neco model list --all", list.hidden);
        let _ = writeln!(text, "{gap}{}", paint.dim(&words));
    }
    text
}

fn line(name: &str, model: &ModelRow, width: usize) -> String {
    let facts = &model.facts;
    // What is assumed of an unknown model is marked.
    let about = if facts.known { "" } else { "~" };
    let context = format!("{about}{}", figures::tokens(facts.context_window));
    let output = format!("{about}{}", figures::tokens(facts.max_output));
    let (price, abilities) = (short_price(facts), abilities(facts));
    format!(" {:<width$}  {context:>8}  {output:>8}  {price:<16}  {abilities}", clean_line(name)).trim_end().to_owned()
}

/// Everything that is known of a model or a group, for a person.
pub fn shown(shown: &ShownModel, paint: Paint) -> String {
    let mut text = String::new();
    if let Some(strategy) = &shown.strategy {
        let how = match strategy {
            Known::This(Strategy::RoundRobin) => "in turn",
            Known::This(Strategy::First) => "the first that works",
            Known::This(Strategy::Cheapest) => "the cheapest that works",
            Known::Newer(word) => word,
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
    let base = model.base.as_deref().unwrap_or("no address is set");
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
    let mut rows = vec![("asked at", format!("{base} ({})", wire(&model.wire))), ("key", keys)];
    if !model.parameters.is_empty() {
        rows.push(("parameters", model.parameters.join(", ")));
    }
    rows.extend([
        ("context", sizes),
        ("price", price(model)),
        ("can", abilities(info)),
        ("known from", known_from(model)),
    ]);
    rows.extend(model.states.iter().map(|state| ("state", state_words(state, &model.name))));
    rows
}

fn price(model: &ModelDescription) -> String {
    let facts = &model.facts;
    let prices = [facts.input_price, facts.output_price, facts.cache_read_price, facts.cache_write_price];
    let [Some(input), Some(output), Some(read), Some(write)] = prices.map(|price| price.map(dollars)) else {
        return "unknown: costs are not shown".to_owned();
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
        (None, false) => format!("assumed; set it in {settings}"),
    }
}

fn state_words(state: &ModelState, model: &str) -> String {
    let words = match state.state {
        Readiness::Ready => "ready".to_owned(),
        Readiness::Other => NEWER.to_owned(),
        Readiness::Rests => "failed; comes last for a while".to_owned(),
        Readiness::Unusable => format!("can't be asked: {}", state.reason.as_deref().unwrap_or_default()),
    };
    // The number of the key, where there are several.
    match state.name.strip_prefix(model).map(str::trim).filter(|rest| !rest.is_empty()) {
        Some(key) => format!("{words} {key}"),
        None => words,
    }
}

/// What it can do besides text.
fn abilities(facts: &ModelFacts) -> String {
    let named = [(facts.vision, "vision"), (facts.tools, "tools"), (facts.reasoning, "reasoning")];
    named.iter().filter(|(can, _)| *can).map(|(_, name)| *name).collect::<Vec<_>>().join(" ")
}

/// `$3 / $15`, for a million tokens of input and output.
fn short_price(facts: &ModelFacts) -> String {
    let Some((input, output)) = facts.input_price.zip(facts.output_price) else { return "-".to_owned() };
    format!("{} / {}", dollars(input), dollars(output))
}

/// A price for a million tokens, without needless digits.
fn dollars(amount: f64) -> String {
    let text = format!("{amount:.4}");
    let short = text.trim_end_matches('0').trim_end_matches('.');
    // Cents are written with two digits.
    match short.split_once('.') {
        Some((_, cents)) if cents.len() == 1 => format!("${short}0"),
        Some(_) | None => format!("${short}"),
    }
}

/// What came of asking a model one tiny question.
pub fn tested(tested: &TestedModel, paint: Paint) -> String {
    let mut parts = vec![clean_line(&tested.name)];
    parts.extend(tested.problem.as_ref().map(|problem| clean_line(problem)));
    let duration = |millis: u64| figures::duration(Duration::from_millis(millis));
    if let Some((first, all)) = tested.first_byte_ms.zip(tested.duration_ms) {
        parts.push(format!("first byte {}", duration(first)));
        parts.push(format!("{} in all", duration(all)));
    }
    parts.extend(tested.tokens_per_second.map(|speed| format!("{speed:.0} tokens/s")));
    parts.extend(tested.usage.as_ref().and_then(figures::usage));
    if tested.ok {
        let calls = if tested.called_tool.is_some() { "calls tools" } else { "not asked to call tools" };
        parts.push(calls.to_owned());
    }
    let health = if tested.ok { paint.green("ok  ") } else { paint.red("fail") };
    format!("{health}  {}\n", parts.join(" · "))
}

/// The format that a model is asked in.
fn wire(kind: &Known<ProviderType>) -> &str {
    let kind = match kind {
        Known::This(kind) => kind,
        Known::Newer(word) => return word,
    };
    match kind {
        ProviderType::Openai => "OpenAI chat completions",
        ProviderType::Responses => "OpenAI responses",
        ProviderType::Anthropic => "Anthropic messages",
        ProviderType::Gemini => "Gemini generateContent",
        ProviderType::Scripted => "a script, not a model",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_short() {
        for (amount, shown) in [(3.0, "$3"), (0.3, "$0.30"), (1.25, "$1.25"), (0.0125, "$0.0125"), (0.0, "$0")] {
            assert_eq!(dollars(amount), shown);
        }
        let priced = ModelFacts { input_price: Some(0.28), output_price: Some(0.42), ..ModelFacts::default() };
        let prices = (short_price(&priced), short_price(&ModelFacts::default()));
        assert_eq!(prices, ("$0.28 / $0.42".to_owned(), "-".to_owned()));
    }
}
