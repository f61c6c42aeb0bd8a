//! Answers without end: they are cut off, the model and the person are told, and memory stays where it is.

use std::io::Write;

use serde_json::Value;

use crate::format::{ALL, Format, Piece};
use crate::server::{Server, head};
use crate::support::Ran;
use crate::watched::{MOST, house, of, run};

/// More than any setting lets through, in bytes.
const FLOOD: usize = 60_000_000;
const CHUNK: usize = 16_000;

fn done(format: Format, out: &mut dyn Write) -> std::io::Result<()> {
    head(out, 200, "text/event-stream")?;
    out.write_all(format.events(Piece::Text("All done.")).as_bytes())?;
    out.write_all(format.events(Piece::End(format.done())).as_bytes())
}

/// Runs against a server whose first answer is `flood` and whose others are short; what it said, what the second
/// question was, and how many there were.
fn flooded(
    format: Format,
    flood: impl Fn(&mut dyn Write) -> std::io::Result<()> + Send + Sync + 'static,
) -> (Ran, String) {
    let second = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
    let asked = std::sync::Arc::clone(&second);
    let server = Server::start(move |number, body, out| {
        if number == 0 {
            return flood(out);
        }
        body.clone_into(&mut asked.lock().unwrap());
        done(format, out)
    });
    let house = house(format, &server.base, "");
    let (ran, most) = run(&house, &["-m", "work", "--yes", "--output-format", "stream-json"]);
    assert!(most < MOST, "{format:?}: {most} bytes of memory");
    assert!(!house.project().join("big.txt").exists(), "{format:?}: what was cut off was written");
    let second = second.lock().unwrap().clone();
    (ran, second)
}

/// One piece again and again.
fn again(format: Format, begin: Vec<Piece<'static>>, piece: fn(&str) -> Piece<'_>) -> (Ran, String) {
    flooded(format, move |out| {
        head(out, 200, "text/event-stream")?;
        for piece in &begin {
            out.write_all(format.events(*piece).as_bytes())?;
        }
        let text = "a".repeat(CHUNK);
        let event = format.events(piece(&text));
        for _ in 0..FLOOD / CHUNK {
            out.write_all(event.as_bytes())?;
        }
        Ok(())
    })
}

fn warnings(ran: &Ran) -> String {
    of(&ran.events(), "notification").iter().map(|event| event["text"].as_str().unwrap().to_owned() + "\n").collect()
}

fn ends(ran: &Ran) -> Vec<Value> {
    of(&ran.events(), "tool_call_end").into_iter().cloned().collect()
}

#[test]
fn text_is_kept_up_to_the_limit_with_a_note() {
    for format in ALL {
        let (ran, second) = again(format, Vec::new(), |text| Piece::Text(text));
        let ran = ran.ended_with(0);
        assert!(warnings(&ran).contains("network.max_answer_text"), "{format:?}: {}", warnings(&ran));
        let events = ran.events();
        let said = of(&events, "message").iter().find(|event| event["role"] == "assistant").unwrap().to_string();
        // Whoever watches has seen it up to the limit; the model has its beginning.
        assert!(said.contains("network.max_answer_text") && said.len() > 20_000 && said.len() < 30_000);
        let shown: usize = of(&events, "stream_chunk").iter().map(|event| event["text"].as_str().unwrap().len()).sum();
        assert!(shown > 200_000 && shown < 300_000, "{format:?}: {shown}");
        assert!(second.contains("longer than an answer may be"), "{format:?}: the model was not told");
        assert_eq!(of(&events, "agent_complete")[0]["final"], "All done.");
    }
}

#[test]
fn thoughts_are_cut_off() {
    for format in ALL {
        let (ran, second) = again(format, Vec::new(), |text| Piece::Thought(text));
        let ran = ran.ended_with(0);
        assert!(warnings(&ran).contains("network.max_answer_reasoning"), "{format:?}: {}", warnings(&ran));
        assert!(second.contains("longer than an answer may be") && second.len() < 1_000_000, "{format:?}");
    }
}

#[test]
fn a_call_without_end_is_not_run_and_the_model_is_told() {
    // Gemini sends calls whole.
    for format in [Format::Openai, Format::Responses, Format::Anthropic] {
        let begin = vec![Piece::Call(0, "write_file"), Piece::Arguments(0, "\"path\":\"big.txt\",\"content\":\"")];
        let (ran, second) = again(format, begin, |text| Piece::Arguments(0, text));
        let ran = ran.ended_with(0);
        let ends = ends(&ran);
        assert_eq!((ends.len(), &ends[0]["error_code"]), (1, &Value::from(1002)), "{format:?}: {ends:?}");
        assert!(ends[0]["output"].as_str().unwrap().contains("network.max_call_arguments"), "{ends:?}");
        assert!(second.contains("network.max_call_arguments") && second.len() < 1_000_000, "{format:?}");
        assert!(warnings(&ran).contains("network.max_call_arguments"));
    }
}

#[test]
fn of_ten_thousand_calls_as_many_are_run_as_one_answer_may_have() {
    for format in ALL {
        let (ran, second) = flooded(format, move |out| {
            head(out, 200, "text/event-stream")?;
            for index in 0..10_000 {
                out.write_all(format.events(Piece::Call(index, "list_directory")).as_bytes())?;
                out.write_all(format.events(Piece::Arguments(index, "\"path\":\".\"}")).as_bytes())?;
            }
            out.write_all(format.events(Piece::End(format.done())).as_bytes())
        });
        let ran = ran.ended_with(0);
        let ends = ends(&ran);
        assert_eq!(ends.len(), 129, "{format:?}");
        let told = |end: &Value| end["output"].as_str().is_some_and(|text| text.contains("network.max_answer_calls"));
        assert_eq!(ends.iter().filter(|end| told(end)).count(), 1, "{format:?}");
        assert!(second.contains("network.max_answer_calls"), "{format:?}");
    }
}

/// What comes before and after one long text in an event that holds a call.
fn call_event(format: Format) -> (&'static str, &'static str) {
    match format {
        Format::Openai => (
            r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"write_file","arguments":"{\"path\":\"big.txt\",\"content\":\""#,
            r#"\"}"}}]},"finish_reason":"tool_calls"}]}"#,
        ),
        Format::Responses => (
            r#"data: {"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"i","call_id":"c","name":"write_file","arguments":"{\"path\":\"big.txt\",\"content\":\""#,
            r#"\"}"}}"#,
        ),
        Format::Anthropic => (
            r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"write_file","input":{"path":"big.txt","content":""#,
            r#""}}}"#,
        ),
        Format::Gemini => (
            r#"data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"write_file","args":{"path":"big.txt","content":""#,
            r#""}}}]},"finishReason":"STOP"}]}"#,
        ),
    }
}

/// One text that is `bytes` long, between what comes before and after it.
fn long((before, after): (&'static str, &'static str), bytes: usize, out: &mut dyn Write) -> std::io::Result<()> {
    out.write_all(before.as_bytes())?;
    let piece = "a\\nb".repeat(CHUNK / 4);
    for _ in 0..bytes / CHUNK {
        out.write_all(piece.as_bytes())?;
    }
    out.write_all(after.as_bytes())?;
    out.write_all(b"\n\n")
}

#[test]
fn one_event_with_a_huge_call_is_a_call_that_is_not_run() {
    for format in ALL {
        // One that is read whole, and one that is not.
        for bytes in [4_000_000, FLOOD] {
            let (ran, second) = flooded(format, move |out| {
                head(out, 200, "text/event-stream")?;
                long(call_event(format), bytes, out)?;
                out.write_all(format.events(Piece::End(format.done())).as_bytes())
            });
            // A block of this format says its arguments when it ends.
            if format == Format::Anthropic && bytes == FLOOD {
                ran.ended_with(5).says("was not read to its end");
                continue;
            }
            let ran = ran.ended_with(0);
            let ends = ends(&ran);
            assert_eq!(ends.len(), 1, "{format:?} {bytes}");
            assert!(ends[0]["output"].as_str().unwrap().contains("network.max_call_arguments"), "{format:?}: {ends:?}");
            assert!(second.contains("network.max_call_arguments") && second.len() < 1_000_000, "{format:?}");
        }
    }
}

#[test]
fn a_whole_answer_is_limited_like_a_stream() {
    for format in ALL {
        for bytes in [4_000_000, FLOOD] {
            let (ran, _) = flooded(format, move |out| {
                head(out, 200, "application/json")?;
                long(format.whole(), bytes, out)
            });
            let ran = ran.ended_with(0);
            assert!(warnings(&ran).contains("network.max_answer_text"), "{format:?} {bytes}: {}", warnings(&ran));
        }
    }
}

#[test]
fn what_is_no_answer_at_all_ends_the_work_and_not_the_machine() {
    for format in ALL {
        let bombs: [(&str, &str, &str); 5] = [
            ("text/event-stream", "data: ", "\u{1f}\u{8b}compressed, or anything else without an end"),
            ("text/event-stream", "event: ", "a name without an end"),
            ("text/event-stream", "data: {\"choices\":[", "[0],"),
            ("application/json", "{\"candidates\":[", "[0],"),
            ("application/json", "[", "{},"),
        ];
        for (kind, before, piece) in bombs {
            let (ran, _) = flooded(format, move |out| {
                head(out, 200, kind)?;
                out.write_all(before.as_bytes())?;
                let piece = piece.repeat(1000);
                for _ in 0..FLOOD / piece.len() {
                    out.write_all(piece.as_bytes())?;
                }
                Ok(())
            });
            ran.ended_with(5).says("was not read to its end");
        }
    }
}

#[test]
fn what_a_format_holds_back_is_limited_too() {
    let signature = r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"S"}}"#;
    let begin = r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}"#;
    let details = r#"{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.encrypted","data":"S"}]}}]}"#;
    let unnamed = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"S"}}]}}]}"#;
    let held = r#"{"type":"response.function_call_arguments.delta","output_index":0,"delta":"S"}"#;
    for (format, begin, event) in [
        (Format::Anthropic, begin, signature),
        (Format::Anthropic, begin, begin),
        (Format::Openai, details, details),
        (Format::Openai, unnamed, unnamed),
        (Format::Responses, held, held),
    ] {
        let event = event.replace('S', &"s".repeat(CHUNK));
        let (ran, _) = flooded(format, move |out| {
            head(out, 200, "text/event-stream")?;
            write!(out, "data: {begin}\n\n")?;
            for number in 1..FLOOD / event.len().max(2000) {
                // Blocks that begin and never end.
                let index = if event == begin { number } else { 0 };
                write!(out, "data: {}\n\n", event.replace("\"index\":0", &format!("\"index\":{index}")))?;
            }
            Ok(())
        });
        ran.ended_with(5).says("was not read to its end");
    }
}

#[test]
fn time_stops_an_answer_that_does_not_end() {
    let server = Server::start(|_, _, out| {
        head(out, 200, "text/event-stream")?;
        // A letter at a time: no limit of size is ever reached.
        loop {
            out.write_all(Format::Openai.events(Piece::Text("a")).as_bytes())?;
            out.flush()?;
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    });
    let house = house(Format::Openai, &server.base, "");
    let arguments = ["-m", "work", "-c", "agent.max_seconds=1", "--output-format", "stream-json"];
    let ran = run(&house, &arguments).0.ended_with(4);
    let events = ran.events();
    let complete = of(&events, "agent_complete")[0];
    assert_eq!((&complete["reason"], &complete["budget"]["of"]), (&Value::from("budget"), &Value::from("time")));
    assert!(complete["final"].as_str().unwrap().starts_with("aaa"), "what came before is kept");
}
