//! How much to think, in the words that an OpenAI model knows. What it does not know it refuses.

use crate::route::Parameters;
use crate::route::name::family;

/// The level nearest to `effort` that `model` knows. Of models that are not OpenAI's nothing is known
/// but that these four are the usual ones.
pub(super) fn level<'a>(model: &str, effort: &'a str) -> &'a str {
    let known = known(model);
    let place = |level: &str| Parameters::EFFORTS.iter().position(|effort| *effort == level);
    let Some(wanted) = place(effort) else { return effort };
    let distance = |level: &&&str| place(level).map_or(usize::MAX, |at| at.abs_diff(wanted));
    // Of two that are as near the greater effort counts.
    known.iter().rev().min_by_key(distance).copied().unwrap_or(effort)
}

fn known(model: &str) -> &'static [&'static str] {
    let model = model.rsplit('/').next().unwrap_or(model);
    let model = family(model);
    if ["o1", "o3", "o4", "gpt-oss", "gpt-5-codex"].iter().any(|begin| model.starts_with(begin)) {
        return &["low", "medium", "high"];
    }
    match model.strip_prefix("gpt-5") {
        Some(rest) if rest.starts_with("-pro") => &["high"],
        Some(rest) if rest.starts_with(".1-codex-max") => &["low", "medium", "high", "xhigh"],
        Some(rest) if rest.starts_with(".1-codex") => &["low", "medium", "high"],
        Some(rest) if rest.starts_with(".1") => &["none", "low", "medium", "high"],
        Some(rest) if rest.starts_with('.') && rest.contains("codex") => &["low", "medium", "high", "xhigh"],
        Some(rest) if rest.starts_with('.') => &["none", "low", "medium", "high", "xhigh"],
        Some(_) => &["minimal", "low", "medium", "high"],
        None => &["none", "low", "medium", "high"],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_effort_has_a_level_that_the_model_knows() {
        for (model, levels) in [
            ("gpt-5", ["minimal", "minimal", "low", "medium", "high", "high", "high"]),
            ("gpt-5-mini-2025-08-07", ["minimal", "minimal", "low", "medium", "high", "high", "high"]),
            ("gpt-5.1", ["none", "low", "low", "medium", "high", "high", "high"]),
            ("openai/gpt-5.2", ["none", "low", "low", "medium", "high", "xhigh", "xhigh"]),
            ("gpt-5.1-codex-max", ["low", "low", "low", "medium", "high", "xhigh", "xhigh"]),
            ("gpt-5-pro", ["high"; 7]),
            ("o4-mini", ["low", "low", "low", "medium", "high", "high", "high"]),
            ("openai/gpt-oss-120b", ["low", "low", "low", "medium", "high", "high", "high"]),
            ("qwen3:8b", ["none", "low", "low", "medium", "high", "high", "high"]),
        ] {
            assert_eq!(Parameters::EFFORTS.map(|effort| level(model, effort)), levels, "{model}");
        }
    }
}
