//! Frames.

use neco_proto::ApprovalMode;
use neco_proto::clean::clean_line;
use neco_proto::event::Admission;
use neco_proto::{AgentId, Mode};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::status::status;
use crate::app::standing::GoingBack;
use crate::app::{Place, Purpose, WindowState};
use crate::ask::{Asks, Mark, Other};
use crate::input::FieldLook;
use crate::panel;
use crate::term::screen::{Cursor, Frame};
use crate::text::figures;
use crate::text::wrap::{Indent, cut, has_tabs, unfolded, wrap};
use crate::transcript::block::Drawn;
use crate::transcript::ledger;
use crate::update::{asked, stopping};

/// Rows of the todo list.
const TODO_ROWS: usize = 8;

/// Rows of an answer that are shown however small the terminal is, and that stay alive however big it is.
const LEAST_OF_ANSWER: usize = 4;
const MOST_OF_ANSWER: usize = 8;

/// Rows of agents at work.
const AGENT_ROWS: usize = 6;

/// Rows of the field at most.
const MOST_OF_FIELD: usize = 10;

/// Rows of a terminal from which on there is half a row above and below the field.
const FRAMED: usize = 18;

/// Rows above the field from which on kinds of things stand apart.
const ROOMY: usize = 12;

/// Columns from which on the row of the work names all of its keys.
const WIDE: usize = 96;

impl WindowState {
    /// The next frame for a terminal of this size.
    pub fn frame(&mut self, width: u16, height: u16) -> Frame {
        let (width, height) = (usize::from(width).max(1), usize::from(height).max(1));
        (self.width, self.height) = (width, height);
        if self.word.as_ref().is_some_and(|(_, until)| *until <= self.now_ms) {
            self.word = None;
        }
        let theme = self.theme;
        let with = Drawn { now_ms: self.leaving.shown_ms(self.now_ms), ..self.drawn(&theme) };
        self.transcript.works = self.standing.works();
        self.transcript.most_alive = Some((height / 4).clamp(LEAST_OF_ANSWER, MOST_OF_ANSWER));
        let finished =
            self.transcript.leave(with).into_iter().map(|row| if has_tabs(&row) { unfolded(&row, &[]) } else { row });
        let finished = self.leaving.pass(finished);
        let folds = finished.iter().any(|row| row.width() > width);
        let (field, mut cursor) = self.field(width, height);
        // On the smallest terminals the status line gives way to the field, on small ones the rows around it.
        let below = usize::from(height > field.len());
        let around_field = if height >= FRAMED { 2 } else { 0 };
        // Lists hang below the field, so that it stays where it is; the last of their rows stands for the status line.
        let hanging = self.hanging(width, height.saturating_sub(field.len() + around_field));
        let below = if hanging.is_empty() { below } else { hanging.len() };
        let room = height.saturating_sub(field.len() + below + around_field);
        let above = last(self.above(with, room), room);
        // Of an answer that is being written no more is alive than still fits a terminal that is made half as wide:
        // what does not fit goes into the scrollback, and can't be taken back from there.
        let around = height - room + above.len();
        let most = if self.transcript.view.is_writing() {
            (height / 2).saturating_sub(around).max(LEAST_OF_ANSWER)
        } else {
            height
        };
        let on_their_way = self.leaving.on_their_way(self.standing.works(), width, &theme);
        let answer = on_their_way.unwrap_or_else(|| self.transcript.live(with));
        let answer = answer.into_iter().flat_map(|row| fitting(row, width)).collect();
        let mut live = last(answer, most.min(room - above.len()));
        let framed = around_field > 0;
        // What is above the field stands apart from it, unless it belongs to it.
        let apart = framed && above.is_empty() && live.len() < room;
        live.extend(above);
        live.extend(apart.then(Line::default));
        live.extend(framed.then(|| self.half_row("▄", width)));
        cursor.row += live.len();
        let field_rows = (live.len(), field.len());
        live.extend(field);
        live.extend(framed.then(|| self.half_row("▀", width)));
        if below > 0 && hanging.is_empty() {
            live.push(status(self, width));
        }
        live.extend(hanging);
        let live: Vec<Line<'static>> = live.into_iter().map(|row| narrow(row, width)).collect();
        let live = last(live, height);
        let shown = self.picker.is_none();
        let column = cursor.column.min(width - 1);
        let cursor = shown.then_some(Cursor { row: cursor.row.min(height - 1), column });
        let frame = Frame { finished, folds, live, cursor, size: (width, height) };
        self.leaving.keep_shown(&frame, field_rows);
        frame
    }

    /// The field, with what it is for.
    fn field(&self, width: usize, height: usize) -> (Vec<Line<'static>>, Cursor) {
        let (hint, to) = (self.hint(), self.addressee());
        let asks = self.picker.is_some() || !self.desk.is_empty() && asked::question_place(self) == Place::Box;
        let edge = match self.standing.mode {
            _ if asks => self.theme.line,
            Mode::Plan => self.theme.plan,
            _ => self.theme.accent,
        };
        let look = FieldLook { hint: &hint, to: &to, edge };
        self.prompt.rows(width, (height / 3).clamp(1, MOST_OF_FIELD), &look, &self.theme)
    }

    /// Half a row of the field's ground, or a rule where there are no grounds.
    fn half_row(&self, half: &str, width: usize) -> Line<'static> {
        match self.theme.panel.bg {
            Some(ground) => Line::styled(half.repeat(width), Style::new().fg(ground)),
            None => Line::styled("─".repeat(width), self.theme.line),
        }
    }

    /// Whom what is written goes to, or what it is, when it is no message.
    fn addressee(&self) -> String {
        match &self.purpose {
            Purpose::Message if !self.desk.is_empty() && asked::question_place(self) == Place::Field => {
                let what = if asked::is_answer(self) { "your answer" } else { "a message" };
                let stays = self.desk.wants_words() || self.desk.is_answered();
                format!("{what}{}", if stays { "" } else { "   Esc back to the question" })
            }
            Purpose::Message => self.watched.as_ref().map_or_else(String::new, |watched| self.named(watched.agent)),
            Purpose::Reason(_) => "why not".to_owned(),
            Purpose::Revision(_) => "for the plan".to_owned(),
            Purpose::Agent(agent) => self.named(*agent),
            Purpose::Rule => "a rule".to_owned(),
        }
    }

    fn named(&self, agent: AgentId) -> String {
        self.agents.name(agent).map(|name| format!("to {name}")).unwrap_or_default()
    }

    /// What is left to say when the window closes: everything that happened leaves, nothing is alive.
    pub fn last_frame(&mut self, width: u16, height: u16) -> Frame {
        self.transcript.close();
        self.leaving.portion = usize::MAX;
        let frame = self.frame(width, height);
        Frame { live: Vec::new(), cursor: None, finished: self.leaving.last_of(frame.finished, &self.theme), ..frame }
    }

    /// The last frame with what stands in the field now; none where more than that is different, or nothing is.
    pub fn field_frame(&mut self, width: u16, height: u16) -> Option<Frame> {
        let (width, height) = (usize::from(width).max(1), usize::from(height).max(1));
        let field = self.field(width, height);
        self.leaving.field_frame((width, height), field)
    }

    /// What stands between what happened and the field. What is asked has room first.
    fn above(&mut self, with: Drawn<'_>, room: usize) -> Vec<Line<'static>> {
        let Drawn { width, .. } = with;
        let mut asks = Vec::new();
        let mut faces = None;
        if self.picker.is_some() || self.panels.help {
            // What is asked waits behind a list.
        } else if let Some(question) = self.desk.front() {
            faces = Some(question);
            asks.extend(self.question(question, width, room.saturating_sub(1)));
        } else if self.watched.is_some() {
            asks.extend(self.watched_rows(with, room.saturating_sub(1)));
        }
        let just_now = asked::is_writing(self);
        self.facing.draw(faces, !self.prompt.text.is_empty(), just_now, self.now_ms);
        if !asks.is_empty() {
            asks.insert(0, Line::default());
        }
        let left = room.saturating_sub(asks.len());
        let mut rows = self.work(with, left);
        if !rows.is_empty() && rows.len() < left {
            rows.insert(0, Line::default());
        }
        rows.truncate(left);
        rows.extend(asks);
        rows
    }

    /// The list below the field, at most `room` rows of it.
    fn hanging(&mut self, width: usize, room: usize) -> Vec<Line<'static>> {
        let theme = self.theme;
        let mut rows = if let Some(picker) = &mut self.picker {
            picker.draw(self.now_ms);
            picker.rows(width, room, &theme)
        } else if self.panels.help {
            self.help(width, room)
        } else if let Some(completion) = &self.prompt.completion {
            completion.rows(width, &theme)
        } else {
            return Vec::new();
        };
        // What was told meanwhile is seen beside it.
        if let Some((word, _)) = self.word.as_ref().filter(|_| self.picker.is_some()) {
            rows.push(cut(&Line::styled(format!(" {}", clean_line(word)), theme.warning), width));
        }
        rows.truncate(room);
        rows
    }

    fn question(&mut self, question: u64, width: usize, room: usize) -> Vec<Line<'static>> {
        let fitting = |other: Other| other.in_width(width, &self.theme);
        let others: Vec<Other> = self.desk.others().into_iter().map(fitting).collect();
        let armed = self.facing.armed(question);
        let elsewhere = self.purpose == Purpose::Message && asked::question_place(self) == Place::Field;
        let asks_first = self.standing.approval == ApprovalMode::AskFirst;
        let works = self.standing.works();
        let refuses = matches!(self.purpose, Purpose::Reason(_));
        let asks = Asks { works, asks_first, others: &others, armed, elsewhere, refuses, ..Asks::default() };
        let (rows, named) = self.desk.rows(asks, width, room, &self.theme);
        let covered = others.into_iter().take(named).filter(|other| other.mark == Mark::Covered);
        self.facing.named = covered.map(|other| other.call).collect();
        rows
    }

    /// The keys, as many as there is room for.
    fn help(&mut self, width: usize, room: usize) -> Vec<Line<'static>> {
        let rows = panel::key_rows(&self.keymap, width, &self.theme);
        if rows.len() <= room {
            return rows;
        }
        let most = room.saturating_sub(1);
        self.panels.help_from = self.panels.help_from.min(rows.len().saturating_sub(most));
        let first = self.panels.help_from;
        let more = Line::styled(format!("  {} to {} of {} · ↑↓", first + 1, first + most, rows.len()), self.theme.dim);
        rows.into_iter().skip(first).take(most).chain([more]).collect()
    }

    /// The agent that is looked at.
    fn watched_rows(&mut self, with: Drawn<'_>, room: usize) -> Vec<Line<'static>> {
        let Drawn { width, theme, .. } = with;
        let Some(watched) = &mut self.watched else { return Vec::new() };
        let node = self.agents.nodes.iter().find(|node| node.id == watched.agent);
        let (text, about) = node.map(|node| panel::agent_words(0, node, &self.agents)).unwrap_or_default();
        let heading =
            Line::from(vec![Span::styled(text, theme.heading), Span::styled(format!("  {about}"), theme.dim)]);
        let hint = "letters write to it · Ctrl-X pauses, resumes or ends it · ↑↓ scroll · Ctrl-O prints it · Esc back";
        let hint = wrap(&Line::styled(hint, theme.dim), width, &Indent::default());
        let (rows, below) = watched.rows(with, room.saturating_sub(1 + hint.len()));
        let more = (below > 0).then(|| Line::styled(format!("  ↓ {below} more rows"), theme.dim));
        let rows = rows.into_iter().flat_map(|row| fitting(row, width));
        let all: Vec<Line<'static>> = rows.chain(more).collect();
        let head = std::iter::once(cut(&heading, width));
        head.chain(last(all, room.saturating_sub(1 + hint.len()))).chain(hint).collect()
    }

    /// What goes on, and what waits.
    fn work(&self, with: Drawn<'_>, room: usize) -> Vec<Line<'static>> {
        let Drawn { width, theme, .. } = with;
        let mut rows = self.shell.rows(with, self.height);
        if self.panels.work && self.picker.is_none() {
            // A small terminal shows less of the list, not less of the work.
            let most = TODO_ROWS.min(room / 3).max(1);
            rows.extend(panel::agent_rows(&self.agents, width, AGENT_ROWS.min(most), self.frame, theme));
            rows.extend(self.agents.running_workflow().map(|graph| panel::workflow_line(graph, width, theme)));
            rows.extend(panel::open_todos(&self.transcript.view.todos, width, most, theme));
        }
        let now: Vec<Line<'static>> =
            self.queued(width).chain(self.working(width)).chain(stopping::still_work(self, width)).collect();
        if !rows.is_empty() && !now.is_empty() && room > ROOMY {
            rows.push(Line::default());
        }
        rows.extend(now);
        rows
    }

    /// What was said and waits.
    fn queued(&self, width: usize) -> impl Iterator<Item = Line<'static>> {
        let theme = &self.theme;
        let count = self.transcript.waiting().count();
        let works = self.standing.works();
        self.transcript.waiting().enumerate().map(move |(index, waiting)| {
            let when = match (works, waiting.waits == Some(Admission::AfterWork)) {
                (true, true) => "after the work",
                (true, false) => "next turn",
                // Whoever stopped the work does not want it to go on by itself.
                (false, _) => "goes with your next message",
            };
            let takes_back = index + 1 == count && self.prompt.text.is_empty() && !self.prompt.has_put_away();
            let keys = if takes_back { ledger::keys(&[("↑", "take back")], theme) } else { Vec::new() };
            let right: usize = keys.iter().map(Span::width).sum();
            let head = ledger::head(Span::styled("⋯", theme.dim), "Next", theme.dim);
            let when = vec![Span::styled(format!(" · {when}"), theme.dim)];
            let text = vec![Span::raw(clean_line(&waiting.text))];
            let left = ledger::row(head, text, when, width.saturating_sub(right + 3));
            ledger::sprung(left.spans, keys, width)
        })
    }

    fn working(&self, width: usize) -> Option<Line<'static>> {
        let theme = &self.theme;
        let (verb, about, ms, keys) = if let Some(GoingBack { since_ms, files }) = self.standing.going_back {
            let far = files.map(|(done, total)| format!(" · {done} of {total} files")).unwrap_or_default();
            ("Rewind", far, self.now_ms - since_ms, Vec::new())
        } else if self.standing.works() && self.desk.is_empty() {
            let since = self.standing.since_ms.unwrap_or(self.now_ms);
            let verb = if self.standing.compacting { "Compact" } else { "Work" };
            let keys = match width >= WIDE && !self.standing.compacting {
                true => vec![("Enter", "next turn"), ("Tab", "after the work"), ("Esc", "stop")],
                false => vec![("Esc", "stop")],
            };
            (verb, self.progress(), self.leaving.shown_ms(self.now_ms) - since, keys)
        } else {
            return None;
        };
        let mut spans = ledger::head(Span::styled(figures::turning(self.frame), theme.accent), verb, theme.accent);
        let time = figures::clock(u64::try_from(ms).unwrap_or_default());
        spans.push(Span::styled(format!("{time}{about}"), theme.dim));
        Some(ledger::sprung(spans, ledger::keys(&keys, theme), width))
    }

    /// How far the present work is, and what it used.
    fn progress(&self) -> String {
        if self.standing.compacting {
            return String::new();
        }
        let turn = format!(" · turn {}", self.standing.iteration.max(1));
        let used = self.standing.usage;
        match used.input + used.output {
            0 => turn,
            _ => format!("{turn} · {} in, {} out", figures::tokens(used.input), figures::tokens(used.output)),
        }
    }

    fn hint(&self) -> String {
        if let Some(hint) = self.desk.hint().filter(|_| self.purpose == Purpose::Message && self.picker.is_none()) {
            let at_box = asked::question_place(self) == Place::Box || !self.desk.is_approval();
            return if at_box { hint.to_owned() } else { "for the next turn".to_owned() };
        }
        if let Some(watched) = &self.watched
            && self.purpose == Purpose::Message
            && self.picker.is_none()
        {
            let name = self.agents.name(watched.agent).unwrap_or_else(|| "it".to_owned());
            return format!("Message {name}; it reads it at its next turn");
        }
        if self.set_up {
            let words = if self.standing.works() { "one moment · Esc stops it" } else { "one moment" };
            return words.to_owned();
        }
        if self.standing.going_back.is_some() && self.purpose == Purpose::Message {
            return "Enter: say it when it is back".to_owned();
        }
        if self.opening && self.purpose == Purpose::Message {
            return "Opening the session …".to_owned();
        }
        match (&self.purpose, self.standing.works()) {
            (Purpose::Reason(_), _) => "What should it do instead? Enter sends   Esc back".to_owned(),
            (Purpose::Revision(_), _) => "what should be different in the plan?".to_owned(),
            (Purpose::Agent(agent), _) => {
                format!("what should {} do otherwise?", self.agents.name(*agent).unwrap_or_else(|| "it".to_owned()))
            }
            (Purpose::Rule, _) => "such as: allow bash(cargo test *) · deny edit(src/**)".to_owned(),
            (Purpose::Message, true) => "Add to the work; read at the next turn".to_owned(),
            (Purpose::Message, false) if self.can_go_on => "Say what to do instead; Enter alone goes on".to_owned(),
            (Purpose::Message, false) if self.transcript.has_left() => "Ask, or say what to do next".to_owned(),
            (Purpose::Message, false) => {
                let folder = self.standing.cwd.rsplit('/').next().map(clean_line).filter(|name| !name.is_empty());
                folder.map_or_else(
                    || "Ask, or say what to do".to_owned(),
                    |folder| format!("Ask, or say what to do in {folder}"),
                )
            }
        }
    }
}

/// The last rows that have room.
fn last(rows: Vec<Line<'static>>, room: usize) -> Vec<Line<'static>> {
    let hidden = rows.len().saturating_sub(room);
    rows.into_iter().skip(hidden).collect()
}

/// A row that is too wide would become two, and every count of rows would be wrong.
fn narrow(row: Line<'static>, width: usize) -> Line<'static> {
    if row.width() > width || has_tabs(&row) { cut(&row, width) } else { row }
}

/// The same without cutting anything off.
fn fitting(row: Line<'static>, width: usize) -> Vec<Line<'static>> {
    if row.width() > width || has_tabs(&row) { wrap(&row, width, &Indent::default()) } else { vec![row] }
}
