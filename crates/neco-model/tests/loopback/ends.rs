//! How answers end, and that they do: silence, signs of life, whole bodies, and servers that speak no TLS.

use std::time::{Duration, Instant};

use crate::served::{Reply, ReplyEnd};
use futures::StreamExt;
use neco_config::section::{ProviderSection, ProviderType};
use neco_model::scripted::{Player, Script};
use neco_model::{Answer, ErrorKind, FinishReason};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::server::Server;
use super::{ask, config, provider, request, retries, section};

fn spoken(kind: ProviderType, script: Script) -> Reply {
    Reply::speaking(kind, &Player::new(script.into(), "m").next().unwrap())
}

fn body(json: &str) -> Reply {
    Reply {
        status: 200,
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        pieces: vec![json.to_owned().into()],
        delay_ms: 0,
        between_ms: 0,
        end: ReplyEnd::Whole,
    }
}

#[tokio::test]
async fn silence_after_the_finish_takes_nothing_from_the_answer() {
    for kind in [ProviderType::Openai, ProviderType::Gemini] {
        let mut reply = spoken(kind, Script::new().say("all of it"));
        if kind == ProviderType::Openai {
            // All but the end mark.
            reply.pieces.retain(|piece| !piece.starts_with(b"data: [DONE]"));
        }
        reply.end = ReplyEnd::Stall;
        let server = Server::answering([reply].into(), 0).await;
        let here = ProviderSection { kind: Some(kind), ..section(&server.base, &[]) };
        let mut config = config(&[("vendor", here)]);
        config.network.idle_timeout = Some(0.05);
        let (deltas, answer, error) = ask(&provider(&config, "vendor/m")).await;
        assert_eq!(
            (answer.text.as_str(), answer.finish, error),
            ("all of it", Some(FinishReason::Stop), None),
            "{kind:?}"
        );
        assert!(retries(&deltas).is_empty());
    }
}

#[tokio::test]
async fn signs_of_life_alone_are_no_answer() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let _ = socket.read(&mut [0; 4096]).await;
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
        let mut alive = socket.write_all(head.as_bytes()).await;
        while alive.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
            alive = socket.write_all(b": still here\n\n").await;
        }
    });
    let mut config = config(&[("vendor", section(&base, &[]))]);
    config.network.stall_timeout = 0.2;
    config.network.retries = 0;
    let error = ask(&provider(&config, "vendor/m")).await.2.unwrap();
    assert_eq!(error.kind, ErrorKind::Timeout);
    assert!(error.message.contains("network.stall_timeout"), "{error}");
}

#[tokio::test]
async fn side_calls_get_their_answer_whole() {
    for (kind, path, answer) in [
        (
            ProviderType::Openai,
            "/v1/chat/completions",
            r#"{"choices":[{"message":{"content":"A title"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2}}"#,
        ),
        (
            ProviderType::Responses,
            "/v1/responses",
            r#"{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"A title"}]}],"usage":{"input_tokens":9,"output_tokens":2}}"#,
        ),
        (
            ProviderType::Anthropic,
            "/v1/messages",
            r#"{"type":"message","content":[{"type":"text","text":"A title"}],"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":2}}"#,
        ),
        (
            ProviderType::Gemini,
            "/v1/models/m:generateContent",
            r#"{"candidates":[{"content":{"parts":[{"text":"A title"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2}}"#,
        ),
    ] {
        let server = Server::answering([body(answer)].into(), 3).await;
        let here = ProviderSection { kind: Some(kind), ..section(&server.base, &[]) };
        let model = provider(&config(&[("vendor", here)]), "vendor/m");
        let mut answer = Answer::default();
        let mut stream = model.whole(request());
        while let Some(delta) = stream.next().await {
            answer.add(&delta.unwrap());
        }
        assert_eq!((answer.text.as_str(), answer.finish), ("A title", Some(FinishReason::Stop)), "{kind:?}");
        assert_eq!(answer.usage.map(|usage| (usage.input, usage.output)), Some((9, 2)), "{kind:?}");
        let seen = server.seen().remove(0);
        assert!(seen.head.starts_with(&format!("POST {path} HTTP/1.1")), "{}", seen.head);
        assert_eq!(seen.header("accept"), Some("application/json"));
        assert!(seen.body.get("stream").is_none_or(|stream| stream == false), "{}", seen.body);
        assert!(seen.body.get("stream_options").is_none(), "{}", seen.body);
    }
}

#[tokio::test]
async fn a_server_that_speaks_no_tls_is_named_at_once() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("https://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let _ = socket.read(&mut [0; 4096]).await;
            let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await;
        }
    });
    let mut config = config(&[("vendor", section(&base, &[]))]);
    // Tried again, this would take a minute.
    config.network.backoff = 60.0;
    let begin = Instant::now();
    let (deltas, _, error) = ask(&provider(&config, "vendor/m")).await;
    let error = error.unwrap().to_string();
    assert!(error.contains("is no TLS server") && error.contains("to http://127.0.0.1"), "{error}");
    assert!(retries(&deltas).is_empty() && begin.elapsed() < Duration::from_secs(50));
}
