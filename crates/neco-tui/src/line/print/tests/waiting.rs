//! What is told while somebody is waited for: on a terminal, in words without one, and in a count.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use super::super::json::JsonPrinter;
use super::*;

#[test]
fn time_that_goes_by_is_shown_on_a_terminal() {
    let look = Look { overwrites: true, width: 40, ..PLAIN };
    let both = Shared::default();
    let mut printer =
        TextPrinter::new(Screen::new(Box::new(both.clone()), Box::new(both.clone()), look), USUAL_GENERATION);
    let in_seconds = |seconds| Instant::now() + Duration::from_secs(seconds);
    draw_with(&mut printer, vec![EventBody::TurnStart(TurnStart { iteration: 1, model: "play/a".into() })]);
    printer.tick(in_seconds(1)).unwrap();
    assert!(both.text().ends_with("… play/a"), "too early to say");
    printer.tick(in_seconds(7)).unwrap();
    assert!(both.text().ends_with("\r\u{1b}[2K… play/a · 7 s"), "{:?}", both.text());
    draw_with(&mut printer, vec![say("words")]);
    printer.tick(in_seconds(4)).unwrap();
    assert!(both.text().ends_with("words"), "a line of words is not torn apart");
    draw_with(
        &mut printer,
        vec![message("", vec![]), runs("1", &"Run a long command ".repeat(9)), prints("1", "out\n")],
    );
    printer.tick(in_seconds(65)).unwrap();
    let shown = both.text();
    let last = shown.rsplit('\n').next().unwrap();
    assert!(shown.contains("│ out\n") && last.ends_with("… · 1 m 05 s") && columns(last) < 40, "{shown:?}");
}

#[test]
fn a_line_that_stalls_says_so_until_it_goes_on() {
    let both = Shared::default();
    let look = Look { overwrites: true, width: 40, ..PLAIN };
    let mut printer =
        TextPrinter::new(Screen::new(Box::new(both.clone()), Box::new(both.clone()), look), USUAL_GENERATION);
    let in_seconds = |seconds| Instant::now() + Duration::from_secs(seconds);
    let turn = EventBody::TurnStart(TurnStart { iteration: 1, model: "play/a".into() });
    draw_with(&mut printer, vec![turn, say("Half a")]);
    printer.tick(in_seconds(7)).unwrap();
    assert!(both.text().ends_with("Half a … silent for 7 s"), "{:?}", both.text());
    printer.tick(in_seconds(8)).unwrap();
    draw_with(&mut printer, vec![say(" sentence")]);
    assert!(
        both.text().ends_with("Half a … silent for 7 s\u{1b}[17D\u{1b}[K … silent for 8 s\u{1b}[17D\u{1b}[K sentence")
    );
    draw_with(&mut printer, vec![say(&" and more".repeat(2))]);
    printer.tick(in_seconds(9)).unwrap();
    assert!(both.text().ends_with(" and more"), "no room for a mark: {:?}", both.text());
    // What is read by a program is not marked.
    let (out, err) = (Shared::default(), Shared::default());
    let screen = Screen::new(Box::new(out.clone()), Box::new(err.clone()), Look { streams: false, ..look });
    let mut printer = TextPrinter::new(screen, USUAL_GENERATION);
    draw_with(&mut printer, vec![say("Half a")]);
    printer.tick(in_seconds(9)).unwrap();
    assert_eq!((out.text().as_str(), err.text().contains("silent")), ("", false));
}

#[test]
fn a_long_wait_is_told_in_words_without_a_terminal() {
    thread_local!(static NOTES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) });
    let turn = || EventBody::TurnStart(TurnStart { iteration: 1, model: "play/a".into() });
    let writes = || {
        let (call_id, name) = ("1".into(), "write_file".into());
        EventBody::StreamToolCallStart(ToolCallStart { index: 0, call_id, name })
    };
    let runs = || vec![message("", vec![]), runs("1", "Run cargo test"), runs("2", "Run make")];
    let in_seconds = |seconds| Instant::now() + Duration::from_secs(seconds);
    let (out, err) = (Shared::default(), Shared::default());
    let screen = Screen::new(Box::new(out.clone()), Box::new(err.clone()), Look::default());
    let mut text = TextPrinter::new(screen, USUAL_GENERATION);
    draw_with(&mut text, vec![turn(), writes()]);
    text.tick(in_seconds(6)).unwrap();
    assert!(err.text().ends_with("… waiting for play/a to write write_file · 6 s\n"), "{}", err.text());
    draw_with(&mut text, runs());
    text.tick(in_seconds(70)).unwrap();
    assert!(err.text().ends_with("… waiting for Run cargo test (+1 more) · 1 m 10 s\n"), "{}", err.text());

    let note = |words: &str| NOTES.with_borrow_mut(|notes| notes.push(words.to_owned()));
    let mut json = JsonPrinter::new(Box::new(out), note);
    let (session_id, agent_id) = (SessionId::new(), AgentId::new());
    let mut tell = |bodies: Vec<EventBody>, seconds| {
        for body in bodies {
            json.tell(&Event::new(1, Timestamp::UNIX_EPOCH, session_id, agent_id, None, body));
        }
        json.tell_of_wait(in_seconds(seconds));
    };
    tell(vec![turn(), writes()], 6);
    tell(runs(), 70);
    tell(vec![complete(CompleteReason::Natural)], 200);
    let told = ["waiting for play/a to write write_file · 6 s", "waiting for Run cargo test (+1 more) · 1 m 10 s"];
    assert_eq!(NOTES.take(), told);
}

#[test]
fn a_wait_is_counted_down() {
    let both = Shared::default();
    let look = Look { overwrites: true, width: 80, ..PLAIN };
    let mut printer =
        TextPrinter::new(Screen::new(Box::new(both.clone()), Box::new(both.clone()), look), USUAL_GENERATION);
    let retry = ModelRetry {
        attempt: 2,
        attempts: 4,
        model: "a/one (key 1)".into(),
        wait_ms: 12_000,
        code: ErrorCode::RateLimited,
        message: "a limits the rate (HTTP 429): slow down".into(),
        discards: false,
    };
    let turn = EventBody::TurnStart(TurnStart { iteration: 1, model: "a/one".into() });
    draw_with(&mut printer, vec![turn, EventBody::ModelRetry(retry)]);
    let shown = both.text();
    assert!(shown.contains("a limits the rate (HTTP 429): slow down; trying again in 12.0"), "{shown}");
    assert!(shown.ends_with("↻ a/one (key 1): attempt 2 of 4 in 12 s"), "{shown}");
    printer.tick(Instant::now() + Duration::from_secs(5)).unwrap();
    assert!(both.text().ends_with("attempt 2 of 4 in 7 s"), "{}", both.text());
    printer.tick(Instant::now() + Duration::from_secs(16)).unwrap();
    assert!(both.text().ends_with("… a/one · 3 s") || both.text().ends_with("… a/one · 4 s"), "{}", both.text());
}
