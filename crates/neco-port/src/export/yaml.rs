//! A session as one YAML document: what it is, then every event as the log keeps it.

use std::io::{self, Write};

use neco_proto::Event;
use serde::Serialize;

use super::Header;

/// Writes a session as YAML.
#[derive(Debug)]
pub struct YamlWriter<W> {
    out: W,
}

impl<W: Write> YamlWriter<W> {
    /// Writes what the session is to `out`.
    /// Fails when `out` can't be written.
    pub fn new(mut out: W, header: &Header) -> io::Result<Self> {
        #[derive(Serialize)]
        struct Beginning<'a> {
            neco_session: u32,
            #[serde(flatten)]
            about: &'a super::About,
        }
        let beginning = Beginning { neco_session: header.neco_session, about: &header.about };
        out.write_all(written(&beginning)?.as_bytes())?;
        // Without events the list is still one.
        out.write_all(if header.events == 0 { b"events: []\n" } else { b"events:\n" })?;
        Ok(Self { out })
    }

    /// Writes the next event, as the next item of the list.
    /// Fails when it can't be written.
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        self.out.write_all(written(&[event])?.as_bytes())
    }

    /// Gives the writer back, with everything handed to it.
    /// Fails when it can't be flushed.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

/// A value as YAML that ends with its line.
fn written(value: &impl Serialize) -> io::Result<String> {
    let mut text = serde_saphyr::to_string(value).map_err(io::Error::other)?;
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use neco_proto::event::{Notification, NotificationLevel};
    use neco_proto::{EventBody, SessionId};
    use serde_json::Value;

    use super::super::About;
    use super::*;

    #[test]
    fn what_is_written_reads_as_one_document_with_the_same_events() {
        let line = r#"{"seq":1,"ts":"2026-11-16T12:00:00.000Z","session_id":"0199a1b2-0000-7000-8000-000000000001",
            "agent_id":"0199a1b2-0000-7000-8000-000000000002","type":"stream_chunk","text":"x"}"#;
        let first: Event = serde_json::from_str(line).unwrap();
        let texts =
            ["plain", "two\nlines\n", "- dash: yes", "no", "~", "", "\u{1b}[31m\u{0}", "  # x\n\n\t- y ", "中文: 是"];
        let events: Vec<Event> = texts
            .iter()
            .map(|text| {
                let text = (*text).to_owned();
                let told = Notification::new(NotificationLevel::Info, text);
                Event { body: EventBody::Notification(told), ..first.clone() }
            })
            .collect();
        let about = About {
            id: SessionId::new(),
            title: "fix: \"it\"".to_owned(),
            cwd: "/tmp".to_owned(),
            created_ms: 1,
            updated_ms: 2,
            neco: "0".to_owned(),
        };
        let mut writer = YamlWriter::new(Vec::new(), &Header::new(about, events.len() as u64)).unwrap();
        events.iter().for_each(|event| writer.event(event).unwrap());
        let text = String::from_utf8(writer.finish().unwrap()).unwrap();
        let read: Value = serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(read["title"], "fix: \"it\"");
        assert_eq!(read["events"], serde_json::to_value(&events).unwrap(), "{text}");
    }
}
