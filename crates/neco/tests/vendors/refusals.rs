//! A refusal is an error, whoever refuses and however they say it; so is a call that can't be read.

use serde_json::json;

use crate::format::{Format, Piece};
use crate::server::{Server, head, refuse};
use crate::watched::{house, run};

#[test]
fn a_refusal_is_an_error_with_words_of_its_own() {
    let refusal = r#"data: {"choices":[{"index":0,"delta":{"refusal":"I can't help with that."}}]}"#;
    let refused = r#"data: {"type":"response.refusal.delta","output_index":0,"delta":"I can't."}"#;
    let blocked = r#"data: {"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}"#;
    for (format, before, reason) in [
        (Format::Openai, "", "content_filter"),
        (Format::Openai, refusal, "stop"),
        (Format::Openai, "", "SAFETY"),
        (Format::Responses, "", "content_filter"),
        (Format::Responses, refused, "completed"),
        (Format::Anthropic, "", "refusal"),
        (Format::Gemini, "", "SAFETY"),
        (Format::Gemini, "", "PROHIBITED_CONTENT"),
        (Format::Gemini, "", "RECITATION"),
        (Format::Gemini, blocked, ""),
    ] {
        let server = Server::start(move |_, _, out| {
            head(out, 200, "text/event-stream")?;
            write!(out, "{before}\n\n")?;
            if reason.is_empty() { Ok(()) } else { out.write_all(format.events(Piece::End(reason)).as_bytes()) }
        });
        let house = house(format, &server.base, "");
        let ran = run(&house, &["-m", "work", "--output-format", "json"]).0.ended_with(5);
        let told = ran.json();
        assert_eq!((&told["is_error"], &told["error"]["code"]), (&json!(true), &json!(4008)), "{format:?}: {told}");
        assert!(told["error"]["message"].as_str().unwrap().contains("set another model"), "{told}");
        assert_eq!(server.asked(), 1, "{format:?}: a refusal is not asked about again");
        // The session is as good as before.
        run(&house, &["-m", "work", "--continue"]).0.ended_with(5).says("say it in other words");
    }
}

#[test]
fn a_request_that_a_filter_refuses_is_the_same_error() {
    let server = Server::start(|_, _, out| refuse(out, 400, r#"{"error":{"code":"content_filter","message":"no"}}"#));
    let house = house(Format::Openai, &server.base, "");
    let told = run(&house, &["-m", "work", "--output-format", "json"]).0.ended_with(5).json();
    assert_eq!((&told["error"]["code"], server.asked()), (&json!(4008), 1), "{told}");
}

/// The vendor says that the model wrote a call that is none: the model was reached, and is asked again.
#[test]
fn a_broken_call_is_an_error_of_its_own_and_not_a_model_out_of_reach() {
    let server = Server::start(|_, _, out| {
        head(out, 200, "text/event-stream")?;
        out.write_all(Format::Gemini.events(Piece::End("MALFORMED_FUNCTION_CALL")).as_bytes())
    });
    let house = house(Format::Gemini, &server.base, "retries = 2");
    let told = run(&house, &["-m", "work", "--output-format", "json"]).0.ended_with(5).json();
    assert_eq!((&told["error"]["code"], server.asked()), (&json!(4009), 3), "{told}");
    assert!(told["error"]["message"].as_str().unwrap().contains("wrote a broken tool call"), "{told}");
}
