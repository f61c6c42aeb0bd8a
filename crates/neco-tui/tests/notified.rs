//! What somebody is told who looks elsewhere.

mod support;

use neco_proto::event::*;
use neco_tui::update::Effect;
use serde_json::json;
use support::{Scene, edit_request};

#[test]
fn somebody_who_looks_elsewhere_is_told() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    scene.app.person.focused = Some(true);
    assert_eq!(scene.asks(edit_request("1")), []);
    scene.app.person.focused = Some(false);
    assert_eq!(scene.asks(edit_request("2")), [], "one is waited for already");
    scene.allowed("1");
    scene.allowed("2");
    assert_eq!(scene.asks(edit_request("3")), [Effect::Notify("waits for you: Edit src/a.rs (+1 −1)".into())]);
}

#[test]
fn the_end_of_long_work_is_told_to_somebody_who_looks_elsewhere() {
    let complete = |duration_ms: u64| {
        let usage = json!({"input": 1, "output": 1, "cache_read": 0, "cache_write": 0, "reasoning": 0});
        support::read(json!({
            "type": "agent_complete", "reason": "natural", "final": "done", "turns": 1, "usage": usage,
            "session_usage": usage, "duration_ms": duration_ms, "waited_ms": 0
        }))
    };
    let mut scene = Scene::new((80, 24));
    for (duration_ms, told) in [(60_000, true), (1_000, false)] {
        scene.works();
        scene.app.person.focused = Some(false);
        let change = StateChange { from: AgentState::Streaming, to: AgentState::Complete, iteration: 1 };
        scene.happen(EventBody::StateChange(change));
        assert_eq!(scene.happen(complete(duration_ms)).contains(&Effect::Notify("is done".into())), told);
    }
}
