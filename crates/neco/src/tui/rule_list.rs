//! The rules about what may happen, as a window lists them.

use neco_proto::RuleSource;
use neco_proto::app::rules::{KeptRules, RuleList};
use neco_proto::visible::visible_line;
use neco_tui::host::RuleEntry;

/// Those that a person can take back first, then all others but the built-in ones, then those.
pub fn entries(kept: KeptRules, mut list: RuleList) -> Vec<RuleEntry> {
    let place = format!("{}:", kept.file);
    let own = kept.rules.into_iter().map(|rule| RuleEntry {
        id: Some(rule.text),
        rule: rule.title,
        from: "kept by you".to_owned(),
    });
    list.rules.retain(|rule| !rule.place.starts_with(&place));
    list.rules.sort_by_key(|rule| rule.source == RuleSource::BuiltIn);
    let others = list.rules.into_iter().map(|rule| RuleEntry {
        id: None,
        rule: format!("{} {}", rule.decision, visible_line(&rule.about)),
        from: if rule.place.is_empty() { rule.source.to_string() } else { rule.place },
    });
    own.chain(others).collect()
}
