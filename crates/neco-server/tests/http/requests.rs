//! A session by requests alone: commands and questions are posted, events are a stream of server-sent events.

use std::net::SocketAddr;

use futures::StreamExt;
use futures::future::BoxFuture;
use neco_proto::app::AppError;
use neco_proto::{Actor, Answer, Client, ClientError, Command, Event, EventStream, Query, Receipt, Seq, SessionId};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// The way to it.
#[derive(Clone)]
pub struct ByRequests {
    pub address: SocketAddr,
    pub token: String,
    pub id: SessionId,
}

fn broken(error: impl std::fmt::Display) -> ClientError {
    ClientError::Refused(format!("the connection fails: {error}"))
}

impl ByRequests {
    async fn begin(&self, line: &str, headers: &str, body: &str) -> std::io::Result<BufReader<TcpStream>> {
        let mut stream = TcpStream::connect(self.address).await?;
        let request = format!(
            "{line} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n{headers}\r\n{body}",
            self.address, self.token
        );
        stream.write_all(request.as_bytes()).await?;
        Ok(BufReader::new(stream))
    }

    async fn post(&self, path: &str, body: Value) -> Result<Value, ClientError> {
        let body = body.to_string();
        let line = format!("POST /api/v1/sessions/{}/{path}", self.id);
        let headers =
            format!("Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n", body.len());
        let mut told = String::new();
        let mut stream = self.begin(&line, &headers, &body).await.map_err(broken)?;
        stream.read_to_string(&mut told).await.map_err(broken)?;
        let (head, body) = told.split_once("\r\n\r\n").ok_or_else(|| broken("no answer"))?;
        let mut told: Value = serde_json::from_str(body).map_err(|error| broken(format!("{error}: {body}")))?;
        if head.starts_with("HTTP/1.1 2") {
            return Ok(told);
        }
        // A problem is an error of the program with a few fields more.
        told["message"] = told["detail"].take();
        let error: AppError = serde_json::from_value(told).map_err(broken)?;
        Err(match error.code {
            Some(code) => ClientError::Failed { code, message: error.message },
            None => ClientError::Refused(error.message),
        })
    }

    /// Hands on what a stream tells, until it ends.
    async fn follow(self, since: Seq, told: tokio::sync::mpsc::Sender<Event>) -> std::io::Result<()> {
        let line = format!("GET /api/v1/sessions/{}/events?since={since}", self.id);
        let mut stream = self.begin(&line, "Accept: text/event-stream\r\n", "").await?;
        let (mut head, mut text) = (String::new(), Vec::new());
        while !head.ends_with("\r\n\r\n") {
            if stream.read_line(&mut head).await? == 0 {
                return Ok(());
            }
        }
        loop {
            let mut length = String::new();
            stream.read_line(&mut length).await?;
            let length = usize::from_str_radix(length.trim(), 16).map_err(std::io::Error::other)?;
            let mut piece = vec![0; length + 2];
            stream.read_exact(&mut piece).await?;
            text.extend_from_slice(&piece[..length]);
            while let Some(end) = text.windows(2).position(|pair| pair == b"\n\n") {
                let message = String::from_utf8_lossy(&text.drain(..end + 2).collect::<Vec<u8>>()).into_owned();
                let data = message.lines().find_map(|line| line.strip_prefix("data: "));
                let event = data.filter(|_| message.contains("event: event\n"));
                if let Some(event) = event.map(serde_json::from_str).transpose()?
                    && told.send(event).await.is_err()
                {
                    return Ok(());
                }
                if message.contains("event: end\n") || length == 0 {
                    return Ok(());
                }
            }
        }
    }
}

impl Client for ByRequests {
    fn send_as(&self, _: Actor, command: Command) -> BoxFuture<'_, Result<Receipt, ClientError>> {
        Box::pin(async move {
            let taken = self.post("commands", json!(command)).await?;
            let message_id = serde_json::from_value(taken["message_id"].clone()).map_err(broken)?;
            Ok(Receipt { seq: taken["seq"].as_u64().unwrap_or_default(), message_id })
        })
    }

    fn events(&self, since: Seq) -> EventStream {
        let (sender, events) = tokio::sync::mpsc::channel(1);
        let own = self.clone();
        tokio::spawn(own.follow(since, sender));
        let next = |mut events: tokio::sync::mpsc::Receiver<Event>| async move { Some((events.recv().await?, events)) };
        futures::stream::unfold(events, next).map(Ok).boxed()
    }

    fn ask(&self, query: Query) -> BoxFuture<'_, Result<Answer, ClientError>> {
        Box::pin(async move {
            let answer = self.post("queries", json!(query)).await?;
            serde_json::from_value(answer).map_err(broken)
        })
    }
}
