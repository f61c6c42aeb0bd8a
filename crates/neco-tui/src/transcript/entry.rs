//! A block of the view in its place on the screen, and its rows.

use neco_proto::clean::clean_line;
use neco_proto::event::{AgentNode, ErrorEvent, ModelRetry, ModelSwitch, NodeState};
use neco_proto::{Question, Subject};
use neco_view::reduce::View;
use neco_view::reduce::block::{Asked, Block, BlockBody, BlockId};
use neco_view::wording::agents;
use neco_view::wording::lines::{ended_with, is_end, lines};
use neco_view::wording::notices::{model_name, trouble};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::block::{Drawn, Kind, note, said, thinking, thought, told};
use super::card::{self, Fold};
use super::done::{self, Changes};
use super::ledger::{hanging, prose, prose_width};
use super::tail::Tail;
use crate::ask::plan_rows;
use crate::text::figures;
use crate::text::streaming::Streaming;
use crate::text::wrap::wrap;
use crate::theme::Theme;

/// A block in its place.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) id: BlockId,
    /// What is left of an answer, and whether a part of it has left.
    pub(super) answer: Option<(Box<Streaming>, bool)>,
    /// What a call printed last.
    tail: Tail,
    /// The rows of a call that is over, with the width and whether it counted when they were drawn.
    rows: Option<((usize, bool), Vec<Line<'static>>)>,
    /// When a thought was over, in milliseconds.
    ended_ms: Option<i64>,
    /// What work changed that ended with this.
    pub(super) changes: Changes,
    /// How long was waited before a model was asked again, each time.
    pub(super) waits_ms: Vec<u64>,
    /// Of a model that was to take over: whether it answered.
    answered: bool,
    /// Of the same: whether the row above says why the one before did not.
    is_told_above: bool,
}

impl Entry {
    /// A block that is seen from now on; the words that an open answer has so far come as all others do.
    pub(super) fn new(block: &Block) -> Self {
        let answer = match &block.body {
            BlockBody::Answer(written) if written.over => Some((Box::new(Streaming::whole(&written.text)), false)),
            BlockBody::Answer(_) => Some((Box::default(), false)),
            _ => None,
        };
        let waits_ms = match &block.body {
            BlockBody::ModelRetry(retry) => vec![retry.wait_ms],
            _ => Vec::new(),
        };
        let (tail, changes) = (Tail::default(), Changes::default());
        let (answered, is_told_above) = (false, false);
        Self { id: block.id, answer, tail, rows: None, ended_ms: None, changes, waits_ms, answered, is_told_above }
    }

    /// Whether what comes next decides what is told of it: a model may be asked again, or take over in vain.
    pub(super) fn is_undecided(&self, body: &BlockBody) -> bool {
        !self.waits_ms.is_empty() || matches!(body, BlockBody::ModelSwitch(_)) && !self.answered
    }

    /// Another block comes below it: a model that was to take over has done so when its answer begins.
    pub(super) fn settle_switch(&mut self, below: &mut Self, body: &BlockBody, view: &View) {
        let above = view.block(self.id).map(|block| &block.body);
        let begins = matches!(body, BlockBody::Answer(_) | BlockBody::Thinking(_) | BlockBody::Call(_));
        self.answered |= begins && matches!(above, Some(BlockBody::ModelSwitch(_)));
        if let (Some(BlockBody::ModelRetry(retry)), BlockBody::ModelSwitch(switch)) = (above, body) {
            below.is_told_above = retry.model == switch.from;
        }
    }

    /// It changed at this time; a thought that is over took until then.
    pub(super) fn changed(&mut self, block: &Block, at_ms: i64) {
        if matches!(&block.body, BlockBody::Thinking(written) if written.over) {
            self.ended_ms.get_or_insert(at_ms);
        }
    }

    /// How long a thought took, if that is known.
    pub(super) fn took_ms(&self, block: &Block) -> Option<u64> {
        u64::try_from(self.ended_ms? - block.at_ms).ok()
    }

    /// It goes on with this.
    pub(super) fn grew(&mut self, piece: &str) {
        match &mut self.answer {
            Some((text, _)) => text.push(piece),
            None => self.tail.push(piece),
        }
    }

    /// It ends in the middle.
    pub(super) fn cut_off(&mut self) {
        self.answer.iter_mut().for_each(|(text, _)| text.push(" ⋯"));
    }

    /// Whether a blank row stands before it, when something else stands above.
    pub(super) fn stands_apart(&self, body: &BlockBody, above: Kind) -> bool {
        match &self.answer {
            Some((_, begun)) => !begun,
            None => kind(body) == Kind::Words || above == Kind::Words,
        }
    }

    /// Its rows as they leave.
    pub(super) fn last_rows(&mut self, block: &Block, view: &View, with: Drawn<'_>) -> Vec<Line<'static>> {
        let kept = self.rows.take().filter(|(drawn, _)| *drawn == (with.width, block.void)).map(|(_, rows)| rows);
        kept.unwrap_or_else(|| match &mut self.answer {
            Some((text, _)) => shaded(prose(text.finish(prose_width(with.width), with.theme)), block.void, with.theme),
            None => match &block.body {
                BlockBody::ModelRetry(retry) => {
                    shaded(model_trouble(retry, self.tried_again(), with), block.void, with.theme)
                }
                BlockBody::ModelSwitch(_) if !self.answered && self.is_told_above => Vec::new(),
                BlockBody::ModelSwitch(switch) if !self.answered => {
                    let words = vec![Span::raw(switched_from(switch))];
                    shaded(told(Span::styled("✕", with.theme.bad), "Model", words, with), block.void, with.theme)
                }
                _ => self.draw(block, view, with),
            },
        })
    }

    /// Its rows; those of what is over are drawn once.
    pub(super) fn rows(&mut self, block: &Block, view: &View, with: Drawn<'_>) -> Vec<Line<'static>> {
        // Only the first of all leaves piece by piece; the others wait.
        if let (BlockBody::Answer(written), Some((text, _))) = (&block.body, &mut self.answer) {
            return prose(text.wait(written.over, prose_width(with.width), with.theme));
        }
        let BlockBody::Call(call) = &block.body else { return self.draw(block, view, with) };
        let drawn = (with.width, block.void);
        match &self.rows {
            Some((kept, rows)) if *kept == drawn => rows.clone(),
            _ if card::is_shown_by_question(call) => Vec::new(),
            _ => {
                let rows = self.draw(block, view, with);
                self.rows = call.is_over().then(|| (drawn, rows.clone()));
                rows
            }
        }
    }

    /// How long was waited each time, where it was tried again.
    fn tried_again(&self) -> String {
        let waits: Vec<String> = self.waits_ms.iter().map(|wait| waited(*wait)).collect();
        if waits.is_empty() { String::new() } else { format!(" · tried again after {}", waits.join(", ")) }
    }

    fn draw(&self, block: &Block, view: &View, with: Drawn<'_>) -> Vec<Line<'static>> {
        let Drawn { width, theme, .. } = with;
        let rows = match &block.body {
            BlockBody::Message(message) => said(&message.text, width, theme),
            BlockBody::Thinking(written) if written.over => thought(&written.text, self.took_ms(block), width, theme),
            BlockBody::Thinking(written) => thinking(&written.text, with),
            BlockBody::Call(call) => {
                let waiting = card::waiting_with(call, view);
                let cost = card::agent_cost(call, view);
                card::rows(waiting.as_ref().unwrap_or(call), &self.tail, Fold::Short, cost, with)
            }
            BlockBody::End(end) if done::is_told(end) => vec![done::row(end, &self.changes, with)],
            BlockBody::Agent(step) => agent_ended(&step.node, with),
            BlockBody::ModelRetry(retry) => {
                let passed = u64::try_from(with.now_ms - block.at_ms).unwrap_or_default();
                let wait = retry.wait_ms.saturating_sub(passed).div_ceil(1000);
                let attempts = retry.attempts.max(retry.attempt);
                let again = match wait {
                    0 => self.tried_again(),
                    _ => format!(" · trying again in {wait} s · attempt {} of {attempts}", retry.attempt),
                };
                model_trouble(retry, again, with)
            }
            BlockBody::ModelSwitch(switch) => switched(switch, self.answered, with),
            BlockBody::Error(error) => model_error(error, self.tried_again(), with),
            body => match plan(body) {
                Some(text) => plan_rows(text, width, theme),
                // What was answered hangs below the call that asked.
                None if matches!(body, BlockBody::Question(_)) => {
                    lines(body, view).iter().flat_map(|(_, text)| hung(text, width, theme)).collect()
                }
                None => lines(body, view).iter().flat_map(|(tone, text)| note(*tone, text, width, theme)).collect(),
            },
        };
        shaded(rows, block.void, theme)
    }
}

/// Whether a block is to be seen.
pub(super) fn is_seen(body: &BlockBody, view: &View) -> bool {
    match body {
        BlockBody::Message(said) => said.waits.is_none(),
        BlockBody::Thinking(_) | BlockBody::Answer(_) | BlockBody::Call(_) => true,
        BlockBody::End(end) if done::is_told(end) => true,
        BlockBody::ModelRetry(_) | BlockBody::ModelSwitch(_) | BlockBody::Error(_) => true,
        BlockBody::Agent(step) => is_end(step),
        body => plan(body).is_some() || !lines(body, view).is_empty(),
    }
}

/// Whether nothing more comes of a block that is seen.
pub(super) fn is_over(body: &BlockBody) -> bool {
    body.is_over() || plan(body).is_some()
}

/// What a block is to the one below it.
pub(super) fn kind(body: &BlockBody) -> Kind {
    match body {
        BlockBody::Message(_) | BlockBody::Answer(_) | BlockBody::Rewind(_) => Kind::Words,
        body if plan(body).is_some() => Kind::Words,
        _ => Kind::Step,
    }
}

/// How an agent below the root ended: its name once, what it said, and what it used.
fn agent_ended(node: &AgentNode, with: Drawn<'_>) -> Vec<Line<'static>> {
    let theme = with.theme;
    let glyph = match node.state {
        NodeState::Completed => Span::styled("✓", theme.good),
        NodeState::Failed => Span::styled("✕", theme.bad),
        _ => Span::styled("⊘", theme.dim),
    };
    let state = match node.state {
        NodeState::Completed => String::new(),
        state => format!("  {}", agents::state(state)),
    };
    let said = ended_with(node).map(|said| format!("  {said}")).unwrap_or_default();
    let used = node.subtree_usage.input + node.subtree_usage.output;
    let used = if used == 0 { String::new() } else { format!(" · {} tokens", figures::tokens(used)) };
    let cost = node.subtree_usage.cost.filter(|cost| *cost > 0.0).map(|cost| format!(" · {}", figures::cost(cost)));
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let words = vec![
        Span::styled(clean_line(&node.name), bold),
        Span::styled(state, if glyph.style == theme.bad { theme.bad } else { theme.dim }),
        Span::styled(said, theme.label),
        Span::styled(format!("{used}{}", cost.unwrap_or_default()), theme.dim),
    ];
    told(glyph, "Agent", words, with)
}

/// Another model is asked; once its answer begins, it has taken over.
fn switched(switch: &ModelSwitch, answered: bool, with: Drawn<'_>) -> Vec<Line<'static>> {
    let theme = with.theme;
    let (glyph, does) = match answered {
        true => (Span::styled("✓", theme.good), "takes over"),
        false => (Span::styled(figures::turning(with.frame), theme.accent), "is asked now"),
    };
    let (to, why) = (name_beside(&switch.to, &switch.from), switched_from(switch));
    let words = vec![Span::raw(format!("{to} {does}")), Span::styled(format!(" · {why}"), theme.dim)];
    told(glyph, "Model", words, with)
}

/// `glm-4.7: rate limit`: the model that another one replaces, and why.
fn switched_from(switch: &ModelSwitch) -> String {
    let why = trouble(switch.code, switch.discards).map_or_else(|| clean_line(&switch.message), str::to_owned);
    format!("{}: {why}", name_beside(&switch.from, &switch.to))
}

/// The name of a model; with its provider where another one has the same name.
fn name_beside(model: &str, other: &str) -> String {
    let name = model_name(model);
    if name == model_name(other) { clean_line(model) } else { name }
}

/// `340 ms`, `2 s`, `1m 15s`.
fn waited(ms: u64) -> String {
    match ms {
        1000..=9999 => format!("{} s", (ms + 500) / 1000),
        _ => figures::duration(ms),
    }
}

/// A request to a model that did not go well, and what comes now.
fn model_trouble(retry: &ModelRetry, now: String, with: Drawn<'_>) -> Vec<Line<'static>> {
    let message = match trouble(retry.code, retry.discards) {
        Some(why) if !retry.model.is_empty() => format!("{}: {why}", model_name(&retry.model)),
        Some(_) | None => clean_line(&retry.message),
    };
    let words = vec![Span::raw(message), Span::styled(now, with.theme.dim)];
    told(Span::styled("✕", with.theme.bad), "Model", words, with)
}

/// What went wrong: the sentence first, then what was tried, its number last.
fn model_error(error: &ErrorEvent, tried: String, with: Drawn<'_>) -> Vec<Line<'static>> {
    let end = Span::styled(format!("{tried} ({})", error.code), with.theme.dim);
    let words = vec![Span::raw(clean_line(&error.message)), end];
    told(Span::styled("✕", with.theme.bad), "Error", words, with)
}

/// The plan that the root asks the person about.
fn plan(body: &BlockBody) -> Option<&str> {
    match body {
        BlockBody::Question(Asked {
            agent_id: None,
            question: Question { subject: Subject::Plan { plan }, .. },
            ..
        }) => Some(plan),
        _ => None,
    }
}

/// A line on the edge that the body of a call hangs on.
pub(super) fn hung(text: &str, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    wrap(&Line::styled(clean_line(text), theme.dim), width, &hanging(theme))
}

/// Rows without their colours, where they no longer count.
fn shaded(rows: Vec<Line<'static>>, void: bool, theme: &Theme) -> Vec<Line<'static>> {
    let shade = |row: Line<'static>| {
        let spans = row.spans.into_iter().map(|span| Span::styled(span.content, theme.dim));
        Line { style: Style::default(), alignment: row.alignment, spans: spans.collect() }
    };
    if void { rows.into_iter().map(shade).collect() } else { rows }
}
