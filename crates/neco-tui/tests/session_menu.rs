//! What can be done to a session of the list, behind Ctrl-X.

mod support;

use crossterm::event::KeyCode;
use neco_tui::host::{SessionEntry, SessionOrder};
use neco_tui::update::{Effect, News};
use support::Scene;

/// The list of two sessions has come.
fn lists(scene: &mut Scene) {
    let session = |id: &str| SessionEntry { id: id.into(), title: format!("session {id}"), ..SessionEntry::default() };
    scene.news(News::Sessions(Ok(vec![session("1"), session("2")])));
}

fn listed() -> Scene {
    let mut scene = Scene::new((100, 30));
    scene.types("/resume");
    scene.key(KeyCode::Enter);
    lists(&mut scene);
    scene
}

#[test]
fn a_session_is_forked_behind_ctrl_x() {
    let mut scene = listed();
    assert!(scene.picture().contains("Ctrl-X fork, delete"), "{}", scene.picture());
    scene.control('x');
    let picture = scene.picture();
    assert!(picture.contains("1  Fork        f") && picture.contains("2  Delete      x"), "{picture}");
    assert_eq!(scene.types("f"), [Effect::ToSession(SessionOrder::Fork, "1".into())]);
    assert_eq!(scene.news(News::SessionsChanged(Ok("Forked".into()))), [Effect::Sessions], "the list comes again");
}

#[test]
fn a_session_is_deleted_only_by_a_yes() {
    let mut scene = listed();
    scene.key(KeyCode::Down);
    scene.control('x');
    assert_eq!(scene.types("x"), []);
    assert!(scene.picture().contains("Delete this session?"), "{}", scene.picture());
    assert_eq!(scene.key(KeyCode::Enter), [Effect::Sessions], "Enter keeps it");
    lists(&mut scene);
    scene.control('x');
    scene.types("x");
    assert_eq!(scene.types("y"), [Effect::ToSession(SessionOrder::Delete, "2".into())]);
}

#[test]
fn the_question_names_the_session() {
    let mut scene = Scene::new((80, 24));
    scene.types("/resume");
    scene.key(KeyCode::Enter);
    scene.news(News::Sessions(Ok(vec![SessionEntry {
        id: "019a8000-0000-7000-8000-000000c41f00".into(),
        title: "Uploads die when the bucket throttles us, and nobody retries them".into(),
        messages: "14 messages".into(),
        ..SessionEntry::default()
    }])));
    scene.control('x');
    scene.types("x");
    let picture = scene.picture();
    let asked = picture.lines().find(|row| row.contains("Delete this session? Uploads die")).unwrap_or_default();
    assert!(asked.contains("… · c41f00 · 14 messages"), "{picture}");
}

#[test]
fn esc_goes_back_to_the_list_at_the_same_session() {
    let mut scene = listed();
    scene.key(KeyCode::Down);
    scene.control('x');
    assert_eq!(scene.key(KeyCode::Esc), [Effect::Sessions]);
    lists(&mut scene);
    assert!(scene.picture().contains("❯ session 2"), "{}", scene.picture());
}

#[test]
fn the_session_of_this_window_is_not_deleted_and_stays_chosen() {
    let mut scene = listed();
    scene.app.transcript.view.standing.session_id = "2".into();
    scene.key(KeyCode::Down);
    scene.control('x');
    assert_eq!(scene.types("x"), [Effect::Sessions]);
    lists(&mut scene);
    let picture = scene.picture();
    assert!(picture.contains("open another one first") && picture.contains("❯ session 2"), "{picture}");
}
