//! What is allowed without a question: the status line tells that there is something, the list what it is.

mod support;

use crossterm::event::KeyCode;
use neco_proto::event::ModeChange;
use neco_proto::{Answer, ApprovalMode, EventBody, GrantedRule, SessionRules};
use neco_tui::host::{RuleEntry, RuleGroup};
use neco_tui::update::{Effect, News};
use support::Scene;

/// The status line of a session in this approval mode of which this is known.
fn status(approval: ApprovalMode, rules: SessionRules) -> String {
    let mut scene = Scene::new((120, 24));
    scene.app.transcript.view.standing.approval = approval;
    scene.news(News::Answered(Answer::Rules(rules)));
    let picture = scene.picture();
    picture.lines().last().unwrap_or_default().to_owned()
}

#[test]
fn the_status_line_says_first_only_of_what_is_asked_first() {
    let granted = vec![GrantedRule { allows: "edit and write ordinary files".into(), agent: None }];
    let edits = SessionRules { granted, allowing: 1, edits: true };
    let commands = SessionRules { allowing: 2, ..SessionRules::default() };
    for (approval, rules, said) in [
        (ApprovalMode::AskFirst, SessionRules::default(), " agent · asks first  "),
        (ApprovalMode::AskFirst, edits.clone(), " agent · asks first, except edits · 1 allow rule  "),
        (ApprovalMode::AskFirst, commands.clone(), " agent · asks first · 2 allow rules  "),
        (ApprovalMode::Manual, edits.clone(), " agent · manual, except edits · 1 allow rule  "),
        (ApprovalMode::AcceptEdits, edits, " agent · accepts edits · 1 allow rule  "),
        (ApprovalMode::Auto, commands, " agent · auto  "),
    ] {
        let status = status(approval, rules);
        assert!(status.starts_with(said), "{said:?}: {status:?}");
    }
}

#[test]
fn what_passed_in_another_approval_mode_is_not_taken_for_a_rule() {
    let mut scene = Scene::new((120, 24));
    scene.app.transcript.view.standing.approval = ApprovalMode::AcceptEdits;
    scene.news(News::Answered(Answer::Rules(SessionRules { edits: true, ..SessionRules::default() })));
    assert!(scene.picture().contains(" agent · accepts edits  "));
    let asks_first = ModeChange { approval: Some(ApprovalMode::AskFirst), ..ModeChange::default() };
    scene.happen(EventBody::ModeChange(asks_first));
    assert!(scene.picture().contains(" agent · asks first  "), "{}", scene.picture());
}

#[test]
fn what_was_allowed_for_this_session_stands_first_under_its_heading() {
    let rule = |group: RuleGroup, rule: &str| RuleEntry { rule: rule.into(), group, ..RuleEntry::default() };
    let written = RuleEntry { id: Some("r1".into()), ..rule(RuleGroup::Written, "allow bash(make *)") };
    let mut scene = Scene::new((120, 24));
    scene.news(News::Rules(Ok(vec![rule(RuleGroup::Session, "allow run `cargo test *`"), written.clone()])));
    let picture = scene.picture();
    let at = |words: &str| picture.find(words).unwrap_or_else(|| panic!("{words} in {picture}"));
    let order =
        ["Add a rule …", "For this session", "allow run `cargo test *`", "Others", "allow bash(make *)"].map(at);
    assert!(order.is_sorted(), "{picture}");
    // Headings are passed over, and what was allowed for the session can't be deleted as a rule of a file can.
    scene.key(KeyCode::Down);
    assert_eq!(scene.key(KeyCode::Delete), []);
    scene.key(KeyCode::Down);
    assert_eq!(scene.key(KeyCode::Delete), [Effect::DropRule("r1".into())]);
    let mut scene = Scene::new((120, 24));
    scene.news(News::Rules(Ok(vec![written])));
    assert!(!scene.picture().contains("For this session"), "no heading without it");
}
