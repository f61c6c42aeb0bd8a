//! Lists and panels, in three sizes, and what their keys come to.

mod support;

use crossterm::event::KeyCode;
use neco_proto::app::history::FileDiff;
use neco_proto::event::*;
use neco_proto::*;
use neco_tui::host::{CommandOutcome, ModelEntry, RuleEntry, RuleGroup, SessionEntry, Wanted};
use neco_tui::theme::ThemeName;
use neco_tui::update::{Effect, News};
use neco_view::slash::Outside;
use serde_json::json;
use support::{Scene, children, in_all_sizes, node};

#[test]
fn sessions_models_and_rules_to_choose_from() {
    insta::assert_snapshot!(in_all_sizes(|scene| {
        let sessions = (1..=20).map(|n| SessionEntry {
            id: n.to_string(),
            title: format!("session number {n}"),
            when: format!("{n} h ago"),
            messages: "12 messages".into(),
            ..SessionEntry::default()
        });
        let asked = scene.news(News::Sessions(Ok(sessions.collect())));
        assert_eq!(asked, [Effect::LookInto("1".into())]);
        assert_eq!(scene.types("ber 7").last(), Some(&Effect::LookInto("7".into())));
        let said = |number: u64, text: &str| RewindPoint {
            number,
            message_id: MessageId::new(),
            seq: number,
            ts: jiff::Timestamp::UNIX_EPOCH,
            text: text.into(),
            calls: 4,
            files: true,
            changed: Default::default(),
        };
        scene.news(News::LookedInto("3".into(), vec![said(1, "of another one")]));
        scene.news(News::LookedInto("7".into(), vec![said(1, "make a parser"), said(2, "and test it")]));
        let picture = scene.picture();
        let said = |words: &str| picture.lines().any(|row| row.contains("You  ") && row.contains(words));
        assert!(said("make a parser") && said("and test it") && picture.contains("Files  changed"), "{picture}");
        assert_eq!(scene.key(KeyCode::Enter), [Effect::Open(Wanted::Id("7".into()))]);
        let model = |name: &str| ModelEntry { name: name.into(), context: "200k".into(), ..ModelEntry::default() };
        scene.news(News::Models(Ok(vec![model("a/small"), model("scripted/demo")])));
        assert_eq!(scene.key(KeyCode::Enter), [Effect::Send(Command::SetModel { model: "scripted/demo".into() })]);
        let rule = |id: Option<&str>, rule: &str| RuleEntry {
            id: id.map(str::to_owned),
            rule: rule.into(),
            from: "config.toml".into(),
            group: RuleGroup::Written,
        };
        scene.news(News::Rules(Ok(vec![rule(Some("r1"), "allow run(cargo test)"), rule(None, "deny read(.env)")])));
        scene.key(KeyCode::Down);
        assert_eq!(scene.key(KeyCode::Delete), [Effect::DropRule("r1".into())]);
    }));
}

#[test]
fn a_list_that_was_left_before_it_came_does_not_open_and_takes_no_letters() {
    let session = || SessionEntry { id: "1".into(), title: "one".into(), ..SessionEntry::default() };
    let mut scene = Scene::new((80, 24));
    scene.types("/resume");
    scene.key(KeyCode::Enter);
    scene.key(KeyCode::Esc);
    scene.news(News::Sessions(Ok(vec![session()])));
    scene.types("/permissions");
    assert_eq!(scene.app.prompt.text.as_str(), "/permissions");
    // Asked for anew it opens.
    scene.control('u');
    scene.types("/resume");
    scene.key(KeyCode::Enter);
    scene.news(News::Sessions(Ok(vec![session()])));
    assert!(scene.picture().contains("Search 1 session"), "{}", scene.picture());
}

#[test]
fn a_list_that_was_closed_does_not_come_back_with_what_was_asked_for_in_it() {
    let session = || SessionEntry { id: "1".into(), title: "one".into(), ..SessionEntry::default() };
    let mut scene = Scene::new((80, 24));
    scene.news(News::Sessions(Ok(vec![session()])));
    assert_eq!(scene.key(KeyCode::Tab), [Effect::AllSessions]);
    scene.key(KeyCode::Esc);
    scene.news(News::AllSessions(Ok(vec![session()])));
    assert!(scene.app.picker.is_none());
    scene.news(News::Rules(Ok(Vec::new())));
    assert_eq!(scene.key(KeyCode::Tab), [Effect::Rules]);
    scene.key(KeyCode::Esc);
    scene.news(News::Rules(Ok(Vec::new())));
    assert!(scene.app.picker.is_none());
}

#[test]
fn the_chosen_rule_stays_chosen_among_those_that_can_t_be_deleted() {
    let rule = |rule: &str| RuleEntry { rule: rule.into(), from: "a file".into(), ..RuleEntry::default() };
    let rules = || News::Rules(Ok(vec![rule("deny bash(rm *)"), rule("ask web_fetch")]));
    let mut scene = Scene::new((80, 24));
    scene.news(rules());
    scene.key(KeyCode::End);
    scene.news(rules());
    assert!(scene.picture().contains(" ❯ ask web_fetch"), "{}", scene.picture());
}

#[test]
fn who_came_to_choose_a_session_and_chose_none_leaves() {
    let session = || SessionEntry { id: "1".into(), title: "one".into(), ..SessionEntry::default() };
    let mut scene = Scene::new((80, 24));
    scene.app.unchosen = true;
    assert_eq!(scene.key(KeyCode::Esc), [Effect::Quit], "they do not wait for the list");
    scene.news(News::Sessions(Ok(vec![session()])));
    assert!(scene.picture().contains("Esc leave"), "{}", scene.picture());
    assert_eq!(scene.key(KeyCode::Esc), [Effect::Quit]);
    scene.app.unchosen = false;
    scene.news(News::Sessions(Ok(vec![session()])));
    assert!(scene.picture().contains("Esc back"), "{}", scene.picture());
    assert_eq!(scene.key(KeyCode::Esc), []);
}

#[test]
fn the_list_of_agents_opens_at_one_that_is_at_work() {
    let mut scene = Scene::new((120, 40));
    let [done, works] = [AgentId::new(), AgentId::new()];
    for (id, state) in [(done, "completed"), (works, "running")] {
        let node = node(id, scene.root, "coder", "mend the parser", state, 0.5);
        scene.happen_to(id, support::agent_update(&node));
    }
    scene.control('t');
    assert_eq!(scene.key(KeyCode::Enter), [Effect::Look(works)]);
}

#[test]
fn sessions_of_all_folders_are_a_key_away() {
    let mut scene = Scene::new((80, 24));
    let session = |id: &str, folder: &str| SessionEntry {
        id: id.into(),
        title: format!("session {id}"),
        when: "2 h ago".into(),
        folder: folder.into(),
        ..SessionEntry::default()
    };
    scene.types("/resume");
    assert_eq!(scene.key(KeyCode::Enter).last(), Some(&Effect::Sessions));
    scene.news(News::Sessions(Ok(vec![session("1", "")])));
    assert!(scene.picture().contains("Tab all folders"), "{}", scene.picture());
    assert_eq!(scene.key(KeyCode::Tab), [Effect::AllSessions]);
    scene.news(News::AllSessions(Ok(vec![session("1", "~/here"), session("2", "~/code/shop")])));
    let picture = scene.picture();
    assert!(picture.contains("Search 2 sessions of all folders") && picture.contains("Tab this folder"), "{picture}");
    // A folder is found by its name.
    scene.types("shop");
    assert_eq!(scene.key(KeyCode::Enter), [Effect::Open(Wanted::Id("2".into()))]);
    // Where this folder has none, all are listed.
    scene.types("/resume");
    scene.key(KeyCode::Enter);
    assert_eq!(scene.news(News::Sessions(Ok(Vec::new()))), [Effect::AllSessions]);
    scene.news(News::AllSessions(Ok(Vec::new())));
    assert!(scene.picture().contains("No earlier session"), "{}", scene.picture());
    scene.types("/resume");
    scene.key(KeyCode::Enter);
    scene.news(News::Sessions(Ok(vec![session("1", "")])));
    // What is searched for is searched for in the other list, too.
    scene.types("2");
    scene.key(KeyCode::Tab);
    scene.news(News::AllSessions(Ok(vec![session("1", ""), session("2", "")])));
    let picture = scene.picture();
    assert!(picture.contains("session 2") && !picture.contains("session 1"), "{picture}");
    assert_eq!(scene.key(KeyCode::Tab), [Effect::Sessions]);
    assert_eq!(scene.news(News::Sessions(Ok(Vec::new()))), []);
    assert!(scene.picture().contains("No session in this folder"), "{}", scene.picture());
    assert!(scene.picture().contains("session 2"), "the list stays: {}", scene.picture());
}

#[test]
fn nothing_is_said_of_files_where_none_were_changed() {
    let mut scene = Scene::new((80, 24));
    let session = SessionEntry { id: "1".into(), title: "one".into(), ..SessionEntry::default() };
    scene.news(News::Sessions(Ok(vec![session])));
    let said = RewindPoint {
        number: 1,
        message_id: MessageId::new(),
        seq: 1,
        ts: jiff::Timestamp::UNIX_EPOCH,
        text: "make a parser".into(),
        calls: 0,
        files: false,
        changed: Default::default(),
    };
    scene.news(News::LookedInto("1".into(), vec![said]));
    let picture = scene.picture();
    assert!(picture.contains("You  make a parser") && !picture.contains("Files"), "{picture}");
}

#[test]
fn a_rule_is_written_and_kept() {
    let mut scene = Scene::new((80, 24));
    scene.news(News::Rules(Ok(Vec::new())));
    assert_eq!(scene.key(KeyCode::Enter), []);
    scene.types("allow run(ls)");
    assert_eq!(scene.key(KeyCode::Enter), [Effect::AddRule("allow run(ls)".into())]);
    assert_eq!(scene.news(News::RuleChanged(Ok("kept".into()))), [], "the list was left");
    scene.news(News::Rules(Ok(Vec::new())));
    assert_eq!(scene.news(News::RuleChanged(Ok("kept".into()))), [Effect::Rules]);
}

#[test]
fn ctrl_c_closes_the_field_of_a_rule() {
    let mut scene = Scene::new((80, 24));
    scene.news(News::Rules(Ok(Vec::new())));
    scene.key(KeyCode::Enter);
    scene.types("allow");
    assert_eq!(scene.control('c'), [], "a rule is no message");
    assert_eq!(scene.control('c'), []);
    let picture = scene.picture();
    assert!(!picture.contains("again leaves"), "{picture}");
    scene.types("hello");
    assert!(matches!(scene.key(KeyCode::Enter).last(), Some(Effect::Send(Command::UserMessage { .. }))));
}

#[test]
fn a_list_that_comes_late_takes_no_keys() {
    let mut scene = Scene::new((80, 24));
    scene.types("/model");
    scene.key(KeyCode::Enter);
    scene.types("fix the bug");
    scene.news(News::Models(Ok(vec![ModelEntry { name: "a/b".into(), ..ModelEntry::default() }])));
    assert!(scene.app.picker.is_none());
    let sent = scene.key(KeyCode::Enter);
    assert!(matches!(sent.last(), Some(Effect::Send(Command::UserMessage { .. }))), "{sent:?}");
}

#[test]
fn a_model_is_made_the_default_and_a_group_is_not() {
    let mut scene = Scene::new((80, 24));
    let entry = |name: &str, is_group| ModelEntry { name: name.into(), is_group, ..ModelEntry::default() };
    scene.news(News::Models(Ok(vec![entry("think", true), entry("a/b", false)])));
    assert!(scene.picture().contains("Ctrl-X make it the default"), "{}", scene.picture());
    assert_eq!(scene.control('x'), []);
    assert!(scene.picture().contains("choose a model"), "{}", scene.picture());
    scene.key(KeyCode::Down);
    assert_eq!(scene.control('x'), [Effect::Outside(Outside::Config, "model \"a/b\"".into())]);
    assert!(scene.app.picker.is_none());
}

#[test]
fn an_impatient_enter_does_not_keep_a_list_away() {
    let mut scene = Scene::new((80, 24));
    scene.types("/model");
    scene.key(KeyCode::Enter);
    scene.key(KeyCode::Enter);
    scene.news(News::Models(Ok(vec![ModelEntry { name: "a/b".into(), ..ModelEntry::default() }])));
    assert!(scene.app.picker.is_some());
}

#[test]
fn what_is_chosen_stays_chosen_when_the_list_changes() {
    let mut scene = Scene::new((80, 24));
    let [one, two, _] = children(&mut scene);
    scene.control('t');
    scene.key(KeyCode::Down);
    let mut gone = node(two, one, "tester", "test it", "running", 0.5);
    gone.parent = Some(scene.root);
    scene.happen_to(two, support::agent_update(&gone));
    let order = |agent_id| vec![Effect::Send(Command::AgentCommand { agent_id, order: AgentOrder::Cancel })];
    scene.control('x');
    assert_eq!(scene.types("x"), order(two));
    let update =
        json!({"type": "agent_update", "node": node(one, scene.root, "coder", "x", "running", 0.5), "gone": [two]});
    scene.happen_to(one, support::read(update));
    scene.control('x');
    assert_eq!(scene.types("x"), [], "it is gone, and nobody stands in for it");
}

#[test]
fn the_keys_are_a_press_away() {
    insta::assert_snapshot!(in_all_sizes(|scene| {
        scene.types("?");
    }));
}

#[test]
fn the_keys_leave_some_of_what_happened_on_the_screen() {
    for height in [15, 24, 30] {
        let mut scene = Scene::new((80, height));
        scene.types("?");
        let frame = scene.app.frame(80, height);
        let left = usize::from(height) - frame.live.len();
        assert!(left >= 4, "{left} of {height} rows");
        scene.key(KeyCode::Esc);
        assert!(!scene.picture().contains("Letters search"), "{}", scene.picture());
    }
}

#[test]
fn letters_search_the_help_and_enter_takes_a_command_into_the_field() {
    let mut scene = Scene::new((80, 24));
    scene.types("/help");
    scene.key(KeyCode::Enter);
    let whole = scene.picture();
    assert!(whole.contains("   Write\n ❯ Enter") && whole.contains("   Stop and rewind"), "{whole}");
    scene.key(KeyCode::Up);
    assert!(scene.picture().contains("❯ /exit"), "around the end, past the names of groups: {}", scene.picture());
    scene.types("colours");
    let found = scene.picture();
    assert!(found.contains("❯ /theme") && !found.contains("Stop and rewind"), "{found}");
    assert_eq!(scene.key(KeyCode::Enter), []);
    assert_eq!(scene.app.prompt.text.as_str(), "/theme ", "it takes a word");
    // From the keys as well.
    let mut scene = Scene::new((80, 24));
    scene.types("?");
    assert!(scene.picture().contains("Letters search"), "{}", scene.picture());
    scene.types("undo");
    assert!(scene.picture().contains("❯ /undo"), "{}", scene.picture());
    scene.key(KeyCode::Esc);
    assert_eq!((scene.app.picker.is_none(), scene.app.prompt.text.is_empty()), (true, true));
}

#[test]
fn changes_are_a_screen_that_is_scrolled_and_left() {
    let mut scene = Scene::in_theme((60, 12), ThemeName::Dark);
    let lines: String = (1..=30).map(|n| format!("+line {n}\n")).collect();
    let file = |path: &str, kind: FileChangeKind, diff: &str| FileDiff {
        path: path.into(),
        kind,
        diff: format!("--- a/{path}\n+++ b/{path}\n{diff}"),
        by_others: false,
        own: None,
        since: 0,
    };
    let files = vec![
        file("src/a.rs", FileChangeKind::Modified, "@@ -1,2 +1,2 @@\n let a = 1;\n-let b = 2;\n+let b = 3;\n"),
        file("new.txt", FileChangeKind::Added, &format!("@@ -0,0 +1,30 @@\n{lines}")),
    ];
    scene.types("/diff");
    scene.key(KeyCode::Enter);
    scene.news(News::Outside(Ok(CommandOutcome::Changes(files))));
    let frame = scene.app.frame(60, 12);
    let text: Vec<String> = frame.live.iter().map(ToString::to_string).collect();
    let text = text.join("\n");
    for words in
        ["Changes  of this session  +31 −1", " ❯ src/a.rs   +1  −1", "new.txt   +30  −0   new file", "2 − let b = 2;"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains("--- a/") && !text.contains("line 20"), "{text}");
    let added = frame.live.iter().find(|row| row.to_string().contains("+ let b = 3")).unwrap();
    assert!(added.style.bg.is_some(), "the ground goes to the edge");
    assert!(added.spans.iter().any(|span| span.content == "3" && span.style.bg != added.style.bg), "{added:?}");
    scene.key(KeyCode::Tab);
    scene.key(KeyCode::Tab);
    assert!(scene.picture().contains("▎ new.txt"), "{}", scene.picture());
    scene.key(KeyCode::End);
    assert!(scene.picture().contains("30 + line 30"), "{}", scene.picture());
    scene.key(KeyCode::PageUp);
    assert!(!scene.picture().contains("30 + line 30"), "{}", scene.picture());
    // The field is hidden, and gets nothing.
    assert_eq!((scene.app.paste("lost"), scene.app.paste("/tmp/shot.png")), (vec![], vec![]));
    assert!(scene.app.prompt.text.is_empty());
    assert_eq!((scene.control('z'), scene.control('l')), (vec![Effect::Suspend], vec![Effect::Redraw]));
    assert!(scene.app.diff.is_some());
    // What is asked meanwhile takes no key before it is seen.
    scene.works();
    scene.asks(support::edit_request("1"));
    assert!(scene.picture().contains("◆ a question waits"), "{}", scene.picture());
    assert_eq!(scene.types("1q1"), [], "it has just come into view");
    assert!(scene.app.diff.is_none() && scene.picture().contains("Edit"), "{}", scene.picture());
}

#[test]
fn what_fills_the_context_and_what_was_used() {
    insta::assert_snapshot!(in_all_sizes(|scene| {
        let report = json!({
            "type": "context", "model": "a/b", "window": 200_000, "reserve": 8000, "compact_at": 160_000, "tokens": 50_000,
            "tools": {"count": 24, "tokens": 8000},
            "layers": [{"layer": "base", "tokens": 2000, "share": 4.0}, {"layer": "messages", "tokens": 40_000, "share": 80.0}],
            "messages": [{"id": MessageId::new(), "role": "tool", "tokens": 30_000, "share": 60.0, "begins": "fn main() {", "tools": ["read_file"]}]
        });
        scene.news(News::Answered(serde_json::from_value(report).unwrap()));
        children(scene);
        scene.types("/cost");
        scene.key(KeyCode::Enter);
    }));
}

#[test]
fn the_list_of_models_leads_to_another_provider() {
    let mut scene = Scene::new((80, 24));
    scene.news(News::Models(Ok(vec![ModelEntry { name: "scripted/demo".into(), ..ModelEntry::default() }])));
    assert!(scene.picture().contains("Add a provider or a key …"), "{}", scene.picture());
    scene.key(KeyCode::Down);
    assert_eq!(scene.key(KeyCode::Enter), [Effect::Providers]);
}

#[test]
fn tools_that_are_looked_up_are_told_below_the_tools() {
    let mut scene = Scene::new((100, 30));
    let report = json!({
        "type": "context", "model": "a/b", "window": 200_000, "reserve": 8000, "tokens": 50_000,
        "tools": {"count": 24, "tokens": 8000, "catalogue": ["git", "process"]},
        "layers": [{"layer": "environment", "tokens": 2000, "share": 4.0}], "messages": []
    });
    scene.news(News::Answered(serde_json::from_value(report).unwrap()));
    let picture = scene.picture();
    let rows: Vec<&str> = picture.lines().map(str::trim).skip_while(|row| !row.starts_with("24 tools")).collect();
    assert_eq!(rows[1], "and 2 more tools that are looked up when needed: git, process", "{picture}");
    assert!(rows[2].starts_with("environment"), "{picture}");
}

#[test]
fn what_is_pasted_narrows_a_list_down_or_stands_in_the_field() {
    let model = |name: &str| ModelEntry { name: name.into(), ..ModelEntry::default() };
    let models = || News::Models(Ok(vec![model("a/large"), model("a/small")]));
    let mut scene = Scene::new((80, 24));
    scene.news(models());
    assert_eq!(scene.app.paste("small\n"), []);
    assert_eq!(scene.key(KeyCode::Enter), [Effect::Send(Command::SetModel { model: "a/small".into() })]);
    scene.news(models());
    scene.app.paste("one\ntwo");
    assert!(scene.app.picker.is_none());
    assert_eq!(scene.app.prompt.text.as_str(), "one\ntwo");
    scene.control('u');
    scene.control('u');
    scene.control('r');
    scene.app.paste("the pars");
    assert_eq!(scene.app.prompt.text.as_str(), "fix the parser");
    scene.app.paste("three\nfour");
    assert!(scene.app.prompt.text.as_str().ends_with("three\nfour") && !scene.app.prompt.searches());
    // In the list of agents it is for the one that is chosen.
    let mut scene = Scene::new((80, 24));
    let [one, ..] = children(&mut scene);
    scene.control('t');
    scene.app.paste("mind the gap");
    assert_eq!(scene.app.purpose, neco_tui::app::Purpose::Agent(one));
    assert_eq!(scene.app.prompt.text.as_str(), "mind the gap");
}
