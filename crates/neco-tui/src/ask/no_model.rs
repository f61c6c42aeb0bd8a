//! No model answers: what now? Asked while the same one is tried again only after a long wait, and when the work has
//! ended with that.

use neco_proto::clean::clean_line;
use neco_proto::event::{CompleteReason, ModelRetry};
use neco_proto::{ErrorCode, Event, EventBody};
use neco_view::wording::notices::model_name;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use super::approval::Asks;
use super::edge::{Answer, Tints, first_rows};
use crate::text::figures;
use crate::text::wrap::{Indent, wrap};
use crate::theme::Theme;

/// A wait from which on it is asked about, in milliseconds: a shorter one is over before it is read.
const LONG_MS: u64 = 10_000;

/// Columns below which the error has the whole of its row.
const SMALL: usize = 60;

/// Columns of a model's name that stands beside a time.
const LONG_NAME: usize = 20;

/// Rows of the whole error at most.
const ERROR_ROWS: usize = 8;

/// What an event of the root says of models.
pub enum Heard {
    /// None answers: the person is asked what now.
    Silence(NoModelBox),
    /// One answers, or is not waited for any more.
    Answer,
    /// It is about something else.
    Nothing,
}

/// Whether models answer the root.
#[derive(Clone, Debug, Default)]
pub struct Silence {
    /// Why none did, until the work ends with that.
    error: Option<String>,
    /// The models that were asked one after the other in this turn.
    asked: Vec<String>,
    /// Whether the person waits until one is tried again by itself.
    waits: bool,
}

impl Silence {
    /// Takes in the next event of the root.
    pub fn note(&mut self, event: &Event) -> Heard {
        match &event.body {
            EventBody::ModelRetry(retry) => {
                let next = NextAttempt::of(retry, event.ts.as_millisecond()).filter(|_| !self.waits);
                next.map_or(Heard::Answer, |next| {
                    let asked = NoModelBox::new(&retry.message, Some(next));
                    Heard::Silence(NoModelBox { model: model_name(&retry.model), ..asked })
                })
            }
            EventBody::Error(error) => {
                self.error = is_silent(error.code).then(|| error.message.clone());
                Heard::Nothing
            }
            EventBody::AgentComplete(complete) => {
                let Self { error, asked, .. } = std::mem::take(self);
                let Some(error) = error.filter(|_| complete.reason == CompleteReason::Failed) else {
                    return Heard::Answer;
                };
                Heard::Silence(NoModelBox { asked: named(&asked), ..NoModelBox::new(&error, None) })
            }
            EventBody::TurnStart(_) => {
                *self = Self::default();
                Heard::Answer
            }
            EventBody::ModelSwitch(switch) => {
                for model in [&switch.from, &switch.to].map(|model| model_name(model)) {
                    if !self.asked.contains(&model) {
                        self.asked.push(model);
                    }
                }
                Heard::Answer
            }
            EventBody::StreamChunk(_)
            | EventBody::ReasoningChunk(_)
            | EventBody::StreamToolCallStart(_)
            | EventBody::Message(_) => Heard::Answer,
            _ => Heard::Nothing,
        }
    }

    /// The person waits, and is not asked about that again in this turn.
    pub fn wait(&mut self) {
        self.waits = true;
    }
}

/// When it is tried again by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NextAttempt {
    at_ms: i64,
    attempt: u32,
    attempts: u32,
}

impl NextAttempt {
    /// The attempt that was announced at this time; none where it comes soon.
    fn of(retry: &ModelRetry, now_ms: i64) -> Option<Self> {
        let at_ms = now_ms.saturating_add(i64::try_from(retry.wait_ms).unwrap_or(i64::MAX));
        let (attempt, attempts) = (retry.attempt, retry.attempts.max(retry.attempt));
        (retry.wait_ms >= LONG_MS).then_some(Self { at_ms, attempt, attempts })
    }

    /// `tried again in 12 s, 2 of 5`.
    fn words(self, now_ms: i64) -> String {
        let left = u64::try_from(self.at_ms - now_ms).unwrap_or_default().div_ceil(1000);
        let when = match left {
            0 => "now".to_owned(),
            1..=59 => format!("in {left} s"),
            _ => format!("in {}", figures::clock(left * 1000)),
        };
        format!("tried again {when}, {} of {}", self.attempt, self.attempts)
    }
}

/// What an answer means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoModelMeans {
    /// The work goes on where it ended.
    Again,
    /// It is waited until it is tried again by itself.
    Wait,
    /// Another model is chosen.
    Choose,
    /// The work stays as it is.
    Stop,
}

impl NoModelMeans {
    fn letter(self) -> char {
        match self {
            Self::Again => 'r',
            Self::Wait => 'w',
            Self::Choose => 'm',
            Self::Stop => 'n',
        }
    }
}

/// The question, and the answer that is chosen.
#[derive(Clone, Debug)]
pub struct NoModelBox {
    /// Why the last one did not answer.
    message: String,
    /// The names of those that were asked, where there were several: the row above says why none answered.
    asked: Option<String>,
    /// The model that is tried again by itself, and when; none when the work has ended.
    model: String,
    next: Option<NextAttempt>,
    at: usize,
    /// Whether all of the error is shown.
    whole: bool,
}

impl NoModelBox {
    fn new(message: &str, next: Option<NextAttempt>) -> Self {
        Self { message: clean_line(message), asked: None, model: String::new(), next, at: 0, whole: false }
    }

    /// None answered once more; what is chosen and shown of it stays.
    pub fn again(&mut self, asked: Self) {
        *self = Self { at: self.at, whole: self.whole, ..asked };
    }

    /// Whether it is tried again by itself.
    pub fn waits(&self) -> bool {
        self.next.is_some()
    }

    /// One answer up or down.
    pub fn step(&mut self, down: bool) {
        let count = self.offered().len();
        self.at = (self.at + if down { 1 } else { count - 1 }) % count;
    }

    /// All of the error is shown, or its beginning.
    pub fn toggle_error(&mut self) {
        self.whole = !self.whole;
    }

    /// What the chosen answer means.
    pub fn chosen(&self) -> Option<NoModelMeans> {
        self.offered().get(self.at).copied()
    }

    /// What the answer of a number means, from 1.
    pub fn numbered(&self, number: usize) -> Option<NoModelMeans> {
        self.offered().get(number.checked_sub(1)?).copied()
    }

    /// What a letter means.
    pub fn lettered(&self, letter: char) -> Option<NoModelMeans> {
        self.offered().into_iter().find(|means| means.letter() == letter)
    }

    fn offered(&self) -> [NoModelMeans; 3] {
        let first = if self.waits() { NoModelMeans::Wait } else { NoModelMeans::Again };
        [first, NoModelMeans::Choose, NoModelMeans::Stop]
    }

    /// The rows of the panel.
    pub fn rows(&self, asks: Asks<'_>, width: usize, room: usize, theme: &Theme) -> Vec<Line<'static>> {
        let tints = Tints::of(theme);
        let name = if self.waits() { "No answer yet" } else { "No model answers" };
        let head = |_: usize| {
            let shown = self.asked.as_ref().unwrap_or(&self.message);
            let message = if self.whole { String::new() } else { format!("  {shown}") };
            vec![Span::styled("◆ ", tints.edge), Span::styled(name, Modifier::BOLD), Span::styled(message, tints.label)]
        };
        let safe = vec![Span::styled("nothing is lost", tints.label)];
        // That is worth more than the end of an error, which `d` shows.
        let right = if width < SMALL { Vec::new() } else { safe };
        let mut rows = vec![tints.head(head, &[right], width)];
        if self.whole {
            let inner = width.saturating_sub(1);
            let error = wrap(&Line::styled(self.message.clone(), tints.label), inner, &Indent::all(Span::raw("  ")));
            rows.extend(first_rows(error, ERROR_ROWS, inner).into_iter().map(|row| tints.row(row)));
        }
        let at = (!asks.elsewhere).then_some(self.at);
        let answers = self.offered().map(|means| self.answer(means, asks.now_ms, width));
        let list = tints.answers(&answers, at, (1, 1), width);
        let esc = if self.waits() { "stops the work" } else { "stop here" };
        let error = if self.whole { "less of the error" } else { "the whole error" };
        let own = [("↑↓ Enter", "or 1–3"), ("d", error), ("Esc", esc)];
        let keys = match asks.elsewhere {
            true => tints.keys(&Tints::ELSEWHERE, width),
            false => tints.keys(&own, width),
        };
        let apart = rows.len() + list.len() + keys.len() + 2 <= room;
        rows.extend(apart.then(|| tints.blank()));
        rows.extend(list);
        rows.extend(apart.then(|| tints.blank()));
        rows.extend(keys);
        rows
    }

    fn answer(&self, means: NoModelMeans, now_ms: i64, width: usize) -> Answer {
        // When it is tried again is worth more than its name, which the head says.
        let is_named = width >= SMALL && (1..=LONG_NAME).contains(&self.model.width());
        let words = match means {
            NoModelMeans::Again => "Try again now".to_owned(),
            NoModelMeans::Wait if is_named => format!("Wait for {}", self.model),
            NoModelMeans::Wait => "Wait".to_owned(),
            NoModelMeans::Choose => "Choose another model".to_owned(),
            NoModelMeans::Stop => "Stop here".to_owned(),
        };
        let about = self.next.filter(|_| means == NoModelMeans::Wait).map(|next| next.words(now_ms));
        Answer { key: Some(means.letter()), words, about: about.unwrap_or_default(), ..Answer::default() }
    }
}

/// `glm-4.7 and deepseek-chat were asked`; none where it was one.
fn named(asked: &[String]) -> Option<String> {
    let (last, others) = asked.split_last()?;
    (!others.is_empty()).then(|| format!("{} and {last} were asked", others.join(", ")))
}

/// Whether an error says that no model answers.
fn is_silent(code: ErrorCode) -> bool {
    use ErrorCode::{ModelTimedOut, NotAuthorised, ProviderUnavailable, RateLimited};
    matches!(code, ModelTimedOut | NotAuthorised | ProviderUnavailable | RateLimited)
}
