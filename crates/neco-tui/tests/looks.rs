//! What the window looks like, in four sizes and four themes: colours, grounds and columns.

mod support;

use crossterm::event::KeyCode;
use neco_proto::event::*;
use neco_proto::*;
use neco_tui::Looks;
use neco_tui::app::WindowState;
use neco_tui::input::History;
use neco_tui::term::Depth;
use neco_tui::term::ansi::write_line;
use neco_tui::theme::ThemeName;
use ratatui::text::Line;
use serde_json::json;
use support::{Ended, Scene};

/// The sizes that screens are drawn for.
const SIZES: [(u16, u16); 4] = [(60, 15), (80, 24), (120, 40), (200, 50)];

/// A row as its text and its styles: `ESC` is to be seen, a ground that goes to the edge ends with `→`.
fn seen(row: &Line<'_>, depth: Depth) -> String {
    let mut out = String::new();
    write_line(&mut out, row, depth);
    for rule in ["▄", "▀", "─"] {
        let many = out.matches(rule).count();
        let run = rule.repeat(many);
        if many > 20 && out.contains(&run) {
            out = out.replace(&run, &format!("{rule}×{many}"));
        }
    }
    let ground = if row.style.bg.is_some() { "→" } else { "" };
    format!("{}{ground}", out.replace('\u{1b}', "␛"))
}

fn screens(theme: ThemeName, depth: Depth, play: fn(&mut Scene)) -> String {
    let picture = |size: (u16, u16)| {
        let mut scene = Scene::in_theme(size, theme);
        let mut rows = Vec::new();
        play(&mut scene);
        let frame = scene.app.frame(size.0, size.1);
        rows.extend(frame.finished.iter().chain(&frame.live).map(|row| seen(row, depth)));
        let hidden = rows.len().saturating_sub(usize::from(size.1));
        format!("══ {}×{} ══\n{}", size.0, size.1, rows.split_off(hidden).join("\n"))
    };
    SIZES.map(picture).join("\n\n")
}

fn thought(text: &str) -> EventBody {
    EventBody::ReasoningChunk(StreamChunk { text: text.to_owned() })
}

fn changed() -> Diff {
    Diff {
        path: "src/upload/client.rs".into(),
        unified: "@@ -41,3 +41,4 @@\n     pub async fn put_part(&self, part: &Part) -> Result<ETag> {\n-        \
                  let response = self.send(part).await?;\n+        let mut backoff = Backoff::new(&self.limits);\n+        \
                  let response = self.send_again(part).await?;\n     }\n"
            .into(),
        added: 2,
        removed: 1,
        created: false,
        deleted: false,
    }
}

/// Work as it goes on: a message, a thought, looking, words, a change, a failure, a command that runs.
fn working(scene: &mut Scene) {
    scene.app.transcript.view.standing.cwd = "/home/mia/code/harbor".into();
    scene.app.branch = Some("retry-uploads".into());
    scene.said("Uploads die with 503 SlowDown when the bucket throttles us. Retry with backoff, and test it.");
    scene.works();
    scene.happen(thought("Where are parts sent, and who owns the deadline?\nProbably the client."));
    for (id, tool, summary) in [
        ("1", "read_file", "Read src/upload/client.rs"),
        ("2", "grep", "Search \"put_part\""),
        ("3", "read_file", "Read src/upload/retry.rs"),
    ] {
        scene.ends(id, tool, summary, Ended::well(None));
    }
    scene.streams(&["Parts go out in `Client::put_part`, so the **retry** belongs there.\n\n"]);
    let diff = Display::Diff { files: vec![changed()] };
    scene.ends("4", "edit_file", "Edit src/upload/client.rs", Ended::well(Some(diff)));
    let failed = Display::Terminal {
        command: "cargo test".into(),
        tail: "test honours_retry_after ... ok\ntest deadline_wins ... FAILED\n  left: 4, right: 3\n".into(),
        exit_code: Some(101),
        background: None,
    };
    let output = Ended { duration_ms: 6200, ..Ended::well(Some(failed)) };
    scene.ends("5", "bash", "Run cargo test -p harbor", output);
    scene.call("6", "bash", CallStatus::Executing, "Run cargo test -p harbor --lib");
    scene.prints("6", "   Compiling harbor v0.8.2\n    Building 41/96: reqwest\n");
    scene.app.now_ms = 14_000;
    let usage = json!({
        "type": "usage", "model": "a/b", "input": 97_000, "output": 1800, "cache_read": 0, "cache_write": 0,
        "reasoning": 0, "cost": 0.45, "context_window": 200_000
    });
    scene.happen(support::read(usage));
}

#[test]
fn work_in_a_dark_terminal() {
    insta::assert_snapshot!(screens(ThemeName::Dark, Depth::True, working));
}

#[test]
fn work_in_a_light_terminal() {
    insta::assert_snapshot!(screens(ThemeName::Light, Depth::True, working));
}

#[test]
fn work_in_a_terminal_of_256_colours() {
    insta::assert_snapshot!(screens(ThemeName::Dark, Depth::Many, working));
}

#[test]
fn work_in_sixteen_colours() {
    insta::assert_snapshot!(screens(ThemeName::Sixteen, Depth::Sixteen, working));
}

#[test]
fn work_without_colours() {
    insta::assert_snapshot!(screens(ThemeName::Plain, Depth::None, working));
}

/// Work that is done, with all that an answer can hold.
fn done(scene: &mut Scene) {
    scene.app.transcript.view.standing.cwd = "/home/mia/code/harbor".into();
    scene.works();
    let diff = Display::Diff { files: vec![changed()] };
    scene.ends("1", "edit_file", "Edit src/upload/client.rs", Ended::well(Some(diff)));
    scene.streams(&["# Uploads survive throttling\n\n`Client::put_part` tries again on 429 and 503.\n\n"]);
    scene.streams(&["| Answer | Delay |\n|---|---|\n| 429, 503 | Retry-After |\n| 4xx | never |\n\n"]);
    scene.streams(&[
        "```rust\nlet delay = base * 2;\n```\n\n- Downloads are as they were.\n- 说明写在 docs/uploading.md 里。\n",
    ]);
    let complete = json!({
        "type": "agent_complete", "reason": "natural", "turns": 9, "duration_ms": 312_000, "waited_ms": 58_000,
        "usage": { "input": 97_000, "output": 1800, "cache_read": 0, "cache_write": 0, "reasoning": 0, "cost": 0.45 },
        "session_usage": { "input": 97_000, "output": 1800, "cache_read": 0, "cache_write": 0, "reasoning": 0, "cost": 0.45 }
    });
    scene.happen(EventBody::Message(Message { role: Role::Assistant, ..Message::user("whole") }));
    scene.happen(EventBody::StateChange(StateChange {
        from: AgentState::Streaming,
        to: AgentState::Idle,
        iteration: 9,
    }));
    scene.happen(support::read(complete));
}

#[test]
fn the_end_of_work() {
    insta::assert_snapshot!(screens(ThemeName::Dark, Depth::True, done));
}

#[test]
fn the_end_of_work_without_colours() {
    insta::assert_snapshot!(screens(ThemeName::Plain, Depth::None, done));
}

#[test]
fn thoughts_and_calls_unfold_one_after_the_other() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    scene.happen(thought("First this.\nThen that, which is not seen at first."));
    scene.ends("1", "bash", "Run true", Ended { output: "all of it".into(), ..Ended::well(None) });
    let before = scene.picture();
    assert!(!before.contains("Then that") && !before.contains("all of it"), "{before}");
    scene.control('o');
    assert!(scene.picture().contains("all of it"));
    scene.control('o');
    let after = scene.picture();
    assert!(after.contains(" │ Then that, which is not seen at first."), "{after}");
}

#[test]
fn a_terminal_without_colours_keeps_the_marks_of_every_theme() {
    for theme in ThemeName::ALL {
        let looks = Looks { theme, depth: Depth::None, ..Looks::default() };
        let app = WindowState::new(&looks, History::new(Vec::new()));
        assert_eq!(app.theme.name, ThemeName::Plain);
        let rows = neco_tui::text::markdown::rows("run `make` first", 40, &app.theme);
        assert_eq!(rows[0].to_string(), "run `make` first", "{theme:?}");
    }
    let mut scene = Scene::in_theme((80, 24), ThemeName::Plain);
    scene.app.has_colours = false;
    scene.types("/theme dark");
    scene.key(KeyCode::Enter);
    assert_eq!(scene.app.theme.name, ThemeName::Plain);
    assert!(scene.picture().contains("NO_COLOR is set"), "{}", scene.picture());
}
