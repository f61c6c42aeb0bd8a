//! What the model is told: layers in a fixed order before the conversation, so that prompt caches hit,
//! and the conversation within the room there is.
//!
//! Invariants: the prompt is made anew only when the situation changes; a conversation is only added to,
//! except by a trim or a compaction, and what these make of it follows from their events alone; a call is
//! never parted from its result.
//!
//! Reading order: [`Layer`], [`prompts`], [`source`], [`declare`], [`assemble`]; [`space`] and [`meter`] (how much
//! room there is and how much is taken); [`outputs`], [`arguments`], [`cut`], [`mod@transcript`] and [`replay`] (making the
//! conversation shorter); [`editor`], [`pieces`], [`mod@report`].

mod arguments;
mod assemble;
mod cut;
mod declare;
mod editor;
mod meter;
mod outputs;
mod pieces;
mod prompts;
mod replay;
mod report;
mod source;
mod space;
#[cfg(test)]
mod tests;
mod transcript;

pub use assemble::{Assembled, Context, Told};
pub use cut::{Cut, SummaryError, TooLong, is_summary, stays_of_older, summary_message};
pub use editor::told as editor_told;
pub use meter::{Counted, Meter, tokens_of, tokens_of_all};
pub use neco_proto::Layer;
pub(crate) use outputs::clipped;
pub use outputs::{UsedUp, recent_from, used_up};
pub use pieces::{Given, told as pieces_told};
pub use prompts::{PromptError, PromptFile, PromptValues, Prompts};
pub use replay::{compact_history, compact_messages, trim_history, trim_messages};
pub use report::{prompt_report, report};
pub use source::{Situation, Source};
pub use space::{ContextSettings, Rooms, Space};
pub use transcript::{transcript, transcript_of};
