//! What an answer means.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::happening::{Happening, Response};
use super::items_in::ItemsIn;
use crate::delta::{Delta, FinishReason};
use crate::error::ErrorKind;
use crate::wire::format::{Decoder, Problem};
use crate::wire::loose::Loose;
use crate::wire::openai_chat::problem;
use crate::wire::sse::Event;

/// Reads one answer.
#[derive(Default)]
pub struct ResponsesDecoder {
    items: ItemsIn,
    over: bool,
}

impl Decoder for ResponsesDecoder {
    fn event(&mut self, event: Event<'_>, out: &mut Vec<Delta>) -> Result<(), Problem> {
        let Some(happening) = event.object::<Happening<'_>>()? else { return Ok(()) };
        let kind = match happening.kind.text() {
            "" if happening.error.is_some() => "error",
            "" => std::str::from_utf8(event.name).unwrap_or(""),
            kind => kind,
        };
        self.add(kind, &happening, event.data, out)
    }

    fn is_over(&self) -> bool {
        self.over
    }

    fn kept(&self) -> usize {
        self.items.kept()
    }

    fn end(&mut self, _: &mut Vec<Delta>) -> Result<(), Problem> {
        Err(Problem::cut())
    }

    fn whole(&mut self, body: &[u8], out: &mut Vec<Delta>) -> Result<(), Problem> {
        let response: Response<'_> = serde_json::from_slice(body).map_err(|_| Problem::cut())?;
        if response.output.is_none() && response.error.is_none() {
            return Err(Problem::new(ErrorKind::ServerError, "an answer without output came"));
        }
        self.close(response, out)
    }
}

impl ResponsesDecoder {
    fn add(&mut self, kind: &str, happening: &Happening<'_>, data: &[u8], out: &mut Vec<Delta>) -> Result<(), Problem> {
        match kind {
            "response.output_text.delta" => self.items.text(happening, out),
            "response.refusal.delta" => self.items.refusal(happening, out),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.items.thought(happening, out);
            }
            "response.reasoning_summary_part.added" => self.items.thought_part(happening, out),
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                self.items.arguments(happening, out);
            }
            "response.output_item.added" => self.items.added(happening, &read(happening.item)?, out),
            "response.output_item.done" => return self.items.done(happening, &read(happening.item)?, out),
            "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled" => {
                let mut response: Response<'_> = read(happening.response)?;
                if response.status.text().is_empty() {
                    response.status = Loose::Text(kind.trim_start_matches("response.").to_owned().into());
                }
                return self.close(response, out);
            }
            "error" => return Err(problem::of_event(data)),
            // Everything that repeats what came in pieces, and what is newer than this.
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, response: Response<'_>, out: &mut Vec<Delta>) -> Result<(), Problem> {
        if let Some(error) = response.error {
            return Err(problem::of_event(error.get().as_bytes()));
        }
        if self.items.is_empty() {
            self.items.all(&read::<Vec<Value>>(response.output)?, out)?;
        }
        let finish = self.finish_of(&response)?;
        self.items.end()?;
        out.extend(response.usage.map(|counts| Delta::Usage(counts.usage())));
        out.push(Delta::Finish(finish));
        self.over = true;
        Ok(())
    }

    fn finish_of(&self, response: &Response<'_>) -> Result<FinishReason, Problem> {
        match response.status.text() {
            "incomplete" if response.incomplete_details.reason.text() == "content_filter" => {
                Ok(FinishReason::ContentFilter)
            }
            "incomplete" => Ok(FinishReason::Length),
            "failed" | "cancelled" => {
                Err(Problem::new(ErrorKind::ServerError, "the vendor gave the answer up without saying why"))
            }
            "queued" | "in_progress" => Err(Problem::cut()),
            _ if self.items.has_calls() => Ok(FinishReason::ToolCalls),
            _ if self.items.refused() => Ok(FinishReason::Refusal),
            _ => Ok(FinishReason::Stop),
        }
    }
}

/// A part of an event that is there whenever the event is what it says.
fn read<'a, T: Deserialize<'a> + Default>(part: Option<&'a RawValue>) -> Result<T, Problem> {
    let Some(text) = part.map(RawValue::get) else { return Ok(T::default()) };
    serde_json::from_str(text).map_err(|error| Problem::unreadable(text.as_bytes(), &error))
}
