//! What `/context` tells where nobody knows how much fits into the model's window.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use neco_tui::update::News;
use serde_json::{Value, json};
use support::Scene;

/// The rows that a report of this model and window comes to, joined.
fn told(model: &str, window: Value, assumed: bool) -> String {
    let mut scene = Scene::new((60, 30));
    let report = json!({
        "type": "context", "model": model, "window": window, "window_is_assumed": assumed, "reserve": 8000,
        "tokens": 50_000, "tools": {"count": 24, "tokens": 8000},
        "layers": [{"layer": "messages", "tokens": 42_000, "share": 84.0}], "messages": []
    });
    scene.news(News::Answered(serde_json::from_value(report).unwrap()));
    scene.picture().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_window_that_is_not_known_is_no_measure_and_it_is_told_what_sets_it() {
    let unknown = told("a/b", Value::Null, false);
    assert!(unknown.contains("Context: 50.0k tokens, window not known 24 tools"), "{unknown}");
    assert!(unknown.contains("window not known: set context_window in [models.\"a/b\"]"), "{unknown}");
    let assumed = told("a/b", json!(128_000), true);
    assert!(assumed.contains("Context: 50.0k tokens, window not known 24 tools"), "{assumed}");
    assert!(assumed.contains("window not known, 128.0k tokens are assumed: set context_window in"), "{assumed}");
    assert!(told("think", json!(128_000), true).contains("[models.\"provider/model\"]"), "a group has models");
    for told in [unknown, assumed] {
        assert!(!told.contains('%'), "{told}");
    }
    let known = told("a/b", json!(200_000), false);
    assert!(known.contains("Context: 50.0k of 200k tokens, 25 %") && !known.contains("not known"), "{known}");
}
