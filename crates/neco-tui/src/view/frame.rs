//! Frames.

use neco_proto::ApprovalMode;
use neco_proto::clean::clean_line;
use neco_proto::event::Admission;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use super::status::status;
use crate::app::standing::GoingBack;
use crate::app::{Place, Purpose, WindowState};
use crate::ask::{Asks, Mark, Other};
use crate::panel;
use crate::term::screen::{Cursor, Frame};
use crate::text::figures;
use crate::text::wrap::{Indent, cut, has_tabs, unfolded, wrap};
use crate::transcript::block::Drawn;
use crate::update::{asked, stopping};

/// Rows of the todo list.
const TODO_ROWS: usize = 8;

/// Rows of an answer that are shown however small the terminal is, and that stay alive however big it is.
const LEAST_OF_ANSWER: usize = 4;
const MOST_OF_ANSWER: usize = 8;

/// Rows of agents at work.
const AGENT_ROWS: usize = 6;

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
        self.transcript.most_alive = Some((height / 4).clamp(LEAST_OF_ANSWER, MOST_OF_ANSWER));
        let finished =
            self.transcript.leave(with).into_iter().map(|row| if has_tabs(&row) { unfolded(&row, &[]) } else { row });
        let finished = self.leaving.pass(finished);
        let folds = finished.iter().any(|row| row.width() > width);
        let (field, mut cursor) = self.prompt.rows(width, (height / 3).max(1), &self.hint(), &theme);
        // On the smallest terminals the rule and the status line give way to the field.
        let below = usize::from(height > field.len());
        let rule = usize::from(height > field.len() + 4);
        // Lists hang below the field, so that it stays where it is; the last of their rows stands for the status line.
        let hanging = self.hanging(width, height.saturating_sub(field.len() + rule));
        let below = if hanging.is_empty() { below } else { hanging.len() };
        let room = height.saturating_sub(field.len() + below + rule);
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
        live.extend(above);
        if rule > 0 {
            live.push(self.rule(width));
        }
        cursor.row += live.len();
        let field_rows = (live.len(), field.len());
        live.extend(field);
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

    /// The line above the field; it says what the field is for when that is not a message.
    fn rule(&self, width: usize) -> Line<'static> {
        let label = match &self.purpose {
            Purpose::Message if self.opening => " opening … ".to_owned(),
            Purpose::Message if !self.desk.is_empty() && asked::question_place(self) == Place::Field => {
                let what = if asked::is_answer(self) { " your answer" } else { " a message" };
                let back = if self.desk.wants_words() || self.desk.is_answered() {
                    ""
                } else {
                    " · Esc: back to the question"
                };
                format!("{what}{back} ")
            }
            Purpose::Message => String::new(),
            Purpose::Reason(_) => " why not ".to_owned(),
            Purpose::Revision(_) => " for the plan ".to_owned(),
            Purpose::Agent(agent) => format!(" to {} ", self.agents.name(*agent).unwrap_or_default()),
            Purpose::Rule => " a rule ".to_owned(),
        };
        let begin = if label.is_empty() { "" } else { "──" };
        let rest = width.saturating_sub(begin.width() + label.width());
        let spans = [
            Span::styled(begin, self.theme.dim),
            Span::styled(label, self.theme.accent),
            Span::styled("─".repeat(rest), self.theme.dim),
        ];
        Line::from_iter(spans.into_iter().filter(|span| !span.content.is_empty()))
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
        let field = self.prompt.rows(width, (height / 3).max(1), &self.hint(), &self.theme);
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
        let asks = Asks { works, asks_first, others: &others, armed, elsewhere, ..Asks::default() };
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
        rows.extend(self.working(width));
        rows.extend(stopping::still_work(self, width));
        if self.panels.work && self.picker.is_none() {
            // A small terminal shows less of the list, not less of the work.
            let most = TODO_ROWS.min(room / 3).max(1);
            rows.extend(panel::agent_rows(&self.agents, width, AGENT_ROWS.min(most), self.frame, theme));
            rows.extend(self.agents.running_workflow().map(|graph| panel::workflow_line(graph, width, theme)));
            rows.extend(panel::open_todos(&self.transcript.view.todos, width, most, theme));
        }
        let count = self.transcript.waiting().count();
        for (index, waiting) in self.transcript.waiting().enumerate() {
            let when = match (self.standing.works(), waiting.waits == Some(Admission::AfterWork)) {
                (true, true) => "after the work",
                (true, false) => "at the next turn",
                // Whoever stopped the work does not want it to go on by itself.
                (false, _) => "goes with your next message",
            };
            let takes_back = index + 1 == count && self.prompt.text.is_empty() && !self.prompt.has_put_away();
            let keys = if takes_back { " · ↑ takes it back" } else { "" };
            let room = width.saturating_sub(when.width() + keys.width() + 7);
            let text = cut(&Line::raw(clean_line(&waiting.text)), room.max(8));
            rows.push(cut(&Line::styled(format!("  ⋯ {text} ({when}){keys}"), theme.dim), width));
        }
        rows
    }

    fn working(&self, width: usize) -> Option<Line<'static>> {
        let (doing, ms, keys) = if let Some(GoingBack { since_ms, files }) = self.standing.going_back {
            let far = files.map(|(done, total)| format!(": {done} of {total} files")).unwrap_or_default();
            (format!("going back{far}"), self.now_ms - since_ms, "not stopped halfway")
        } else if self.standing.works() && self.desk.is_empty() {
            let since = self.standing.since_ms.unwrap_or(self.now_ms);
            let doing = if self.standing.compacting { "compacting the conversation" } else { "working" };
            (doing.to_owned(), self.leaving.shown_ms(self.now_ms) - since, "Esc stops")
        } else {
            return None;
        };
        let time = figures::seconds(u64::try_from(ms).unwrap_or_default());
        let spans = vec![
            Span::styled(format!("{} {doing}", figures::turning(self.frame)), self.theme.accent),
            Span::styled(format!("{time} · {keys}"), self.theme.dim),
        ];
        Some(cut(&Line::from(spans), width))
    }

    fn hint(&self) -> String {
        let narrow = self.width < 62;
        if let Some(hint) = self.desk.hint().filter(|_| self.purpose == Purpose::Message && self.picker.is_none()) {
            let at_box = asked::question_place(self) == Place::Box || !self.desk.is_approval();
            return if at_box { hint.to_owned() } else { "for the next turn".to_owned() };
        }
        if self.watched.is_some() && self.purpose == Purpose::Message && self.picker.is_none() {
            return "write something to it".to_owned();
        }
        if self.set_up {
            let words = if self.standing.works() { "one moment · Esc stops it" } else { "one moment" };
            return words.to_owned();
        }
        if self.standing.going_back.is_some() && self.purpose == Purpose::Message {
            return "Enter: say it when it is back".to_owned();
        }
        match (&self.purpose, self.standing.works()) {
            (Purpose::Reason(_), _) => "What should it do instead? Enter sends   Esc back".to_owned(),
            (Purpose::Revision(_), _) => "what should be different in the plan?".to_owned(),
            (Purpose::Agent(agent), _) => {
                format!("what should {} do otherwise?", self.agents.name(*agent).unwrap_or_else(|| "it".to_owned()))
            }
            (Purpose::Rule, _) => "such as: allow bash(cargo test *) · deny edit(src/**)".to_owned(),
            (Purpose::Message, true) if narrow => "Enter: now · Tab: after the work".to_owned(),
            (Purpose::Message, true) => "Enter: say it at the next turn · Tab: after the work".to_owned(),
            (Purpose::Message, false) if self.can_go_on => "Say what to do instead; Enter alone goes on".to_owned(),
            (Purpose::Message, false) if narrow => "what shall we do? ? for keys".to_owned(),
            (Purpose::Message, false) => "what shall we do? ? for keys, / for commands, @ for files".to_owned(),
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
