//! Frames: what has room on the screen, and where.

use jiff::tz::TimeZone;
use neco_proto::ApprovalMode;
use neco_proto::clean::clean_line;
use neco_view::reduce::workflows;
use ratatui::style::Style;
use ratatui::text::Line;

use super::field::field;
use super::status::status;
use super::work::work;
use crate::app::{Picker, Place, Purpose, WindowState};
use crate::ask::{Asks, Mark, Other};
use crate::panel::{self, Tree};
use crate::term::screen::{Cursor, Frame};
use crate::text::wrap::{Indent, cut, has_tabs, unfolded, wrap};
use crate::transcript::block::Drawn;
use crate::update::asked;

/// Rows of an answer that are shown however small the terminal is, and that stay alive however big it is.
const LEAST_OF_ANSWER: usize = 4;
const MOST_OF_ANSWER: usize = 8;

/// Rows of a terminal from which on there is half a row above and below the field.
const FRAMED: usize = 18;

/// Rows of a terminal below which a question has those rows.
const TALL: usize = 30;

/// Rows above the field from which on kinds of things stand apart.
pub(super) const ROOMY: usize = 12;

/// Rows of what happened that the keys leave on the screen: what they push off it does not come back with Esc.
const KEPT: usize = 8;

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
        self.transcript.works = self.standing().works();
        // Over a slow line nothing is drawn that would be drawn again.
        if self.leaving.slow.is_some() {
            self.transcript.settle_start();
        }
        self.transcript.most_alive = Some((height / 4).clamp(LEAST_OF_ANSWER, MOST_OF_ANSWER));
        let alternate = self.is_alternate();
        let finished = if alternate {
            // It waits for the usual screen.
            Vec::new()
        } else {
            let left = self.transcript.leave(with).into_iter();
            self.leaving.pass(left.map(|row| if has_tabs(&row) { unfolded(&row, &[]) } else { row }))
        };
        let folds = finished.iter().any(|row| row.width() > width);
        if let Some(diff) = &mut self.diff {
            // What is asked meanwhile waits behind it, and takes no key.
            self.facing.draw(None, false, false, self.now_ms);
            let note = if self.desk.is_empty() { "" } else { "◆ a question waits   " };
            let live = diff.rows(width, height, note, &theme);
            return Frame { live, size: (width, height), alternate, ..Frame::default() };
        }
        let (field, mut cursor) = field(self, width, height);
        // On the smallest terminals the status line gives way to the field, on small ones the rows around it, and on all
        // but tall ones to a question.
        let below = usize::from(height > field.len());
        let is_framed = height >= if self.is_asked() { TALL } else { FRAMED };
        let around_field = if is_framed { 2 } else { 0 };
        // Lists hang below the field, so that it stays where it is; the last of their rows stands for the status line.
        let hanging = self.hanging(width, height.saturating_sub(field.len() + around_field));
        let below = if hanging.is_empty() { below } else { hanging.len() };
        let room = height.saturating_sub(field.len() + below + around_field);
        let mut above = last(self.above(with, room), room);
        if self.has_own_screen() {
            // The field stays at the bottom.
            above.resize(room, Line::default());
        }
        // Of an answer that is being written no more is alive than still fits a terminal that is made half as wide:
        // what does not fit goes into the scrollback, and can't be taken back from there.
        let around = height - room + above.len();
        let most = if self.transcript.view.is_writing() {
            (height / 2).saturating_sub(around).max(LEAST_OF_ANSWER)
        } else {
            height
        };
        let on_their_way = self.leaving.on_their_way(self.standing().works(), width, &theme);
        let answer = on_their_way.unwrap_or_else(|| self.transcript.live(with));
        let answer = answer.into_iter().flat_map(|row| fitting(row, width)).collect();
        let mut live = last(answer, most.min(room - above.len()));
        // What is above the field stands apart from it, unless it belongs to it.
        let apart = is_framed && above.is_empty() && live.len() < room;
        live.extend(above);
        live.extend(apart.then(Line::default));
        live.extend(is_framed.then(|| self.half_row("▄", width)));
        cursor.row += live.len();
        let field_rows = (live.len(), field.len());
        live.extend(field);
        live.extend(is_framed.then(|| self.half_row("▀", width)));
        if below > 0 && hanging.is_empty() {
            live.push(status(self, width));
        }
        live.extend(hanging);
        let live: Vec<Line<'static>> = live.into_iter().map(|row| narrow(row, width)).collect();
        let live = last(live, height);
        let shown = self.picker.as_ref().is_none_or(|picker| picker.is_tree() || picker.searches());
        let column = cursor.column.min(width - 1);
        let cursor = shown.then_some(Cursor { row: cursor.row.min(height - 1), column });
        let frame = Frame { finished, folds, live, cursor, size: (width, height), alternate };
        self.leaving.keep_shown(&frame, field_rows);
        frame
    }

    /// Whether all of the terminal is for something else than the conversation: what was changed, or one of the agents.
    pub(crate) fn is_alternate(&self) -> bool {
        let shows_agent = match &self.picker {
            Some(picker) => picker.is_menu() && !picker.is_tree(),
            None => !self.panels.help && self.secret.is_none() && self.asking().is_none(),
        };
        self.diff.is_some() || self.watched.is_some() && shows_agent
    }

    /// Whether that has a screen for itself. Where there is only one it has as many rows as it needs.
    fn has_own_screen(&self) -> bool {
        self.is_alternate() && !self.leaving.one_screen
    }

    /// Whether a question stands above the field: it waits behind lists, the keys, and a key that is typed.
    fn is_asked(&self) -> bool {
        self.picker.is_none() && !self.panels.help && self.secret.is_none() && self.asking().is_some()
    }

    /// Half a row of the field's ground, or a rule where there are no grounds.
    fn half_row(&self, half: &str, width: usize) -> Line<'static> {
        match self.theme.panel.bg {
            Some(ground) => Line::styled(half.repeat(width), Style::new().fg(ground)),
            None => Line::styled("─".repeat(width), self.theme.line),
        }
    }

    /// What is left to say when the window closes: everything that happened leaves, nothing is alive.
    pub fn last_frame(&mut self, width: u16, height: u16) -> Frame {
        self.transcript.close();
        (self.diff, self.watched) = (None, None);
        self.leaving.portion = usize::MAX;
        let frame = self.frame(width, height);
        Frame { live: Vec::new(), cursor: None, finished: self.leaving.last_of(frame.finished, &self.theme), ..frame }
    }

    /// The last frame with what stands in the field now; none where more than that is different, or nothing is.
    pub fn field_frame(&mut self, width: u16, height: u16) -> Option<Frame> {
        if self.diff.is_some() {
            return None;
        }
        let (width, height) = (usize::from(width).max(1), usize::from(height).max(1));
        let field = field(self, width, height);
        self.leaving.field_frame((width, height), field)
    }

    /// What stands between what happened and the field. What is asked has room first.
    fn above(&mut self, with: Drawn<'_>, room: usize) -> Vec<Line<'static>> {
        let Drawn { width, .. } = with;
        let mut asks = Vec::new();
        let mut faces = None;
        if let Some(picker) = self.picker.as_ref().filter(|picker| picker.is_tree()) {
            let chosen = picker.chosen().map(|entry| &entry.picked);
            let zone = self.zone.clone().unwrap_or(TimeZone::UTC);
            let tree = Tree { view: &self.transcript.view, chosen, now_ms: self.now_ms, zone: &zone };
            asks.extend(tree.rows(width, room.saturating_sub(1), &self.theme));
        } else if self.watched.is_some() && self.picker.as_ref().is_some_and(Picker::is_menu) {
            asks.extend(self.watched_rows(with, room.saturating_sub(1)));
        } else if self.picker.is_some() || self.panels.help || self.secret.is_some() {
            // What is asked waits behind a list, and behind a key that is typed.
        } else if let Some(question) = self.asking() {
            faces = Some(question);
            asks.extend(self.question(question, width, room.saturating_sub(1)));
        } else if self.watched.is_some() {
            asks.extend(self.watched_rows(with, room.saturating_sub(1)));
        }
        let just_now = asked::is_writing(self);
        self.facing.draw(faces, !self.prompt.text.is_empty(), just_now, self.now_ms);
        if !asks.is_empty() {
            // What has a screen of its own stands apart from the field, everything else from what is above it.
            asks.insert(if self.has_own_screen() { asks.len() } else { 0 }, Line::default());
        }
        let left = room.saturating_sub(asks.len());
        // Whoever looks at agents sees there who works, and Esc does something else.
        let among = self.watched.is_some() || self.picker.as_ref().is_some_and(Picker::is_tree);
        let mut rows = if among { Vec::new() } else { work(self, with, left, asks.is_empty()) };
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
        let word = self.word.as_ref().map(|(word, _)| clean_line(word));
        let mut rows = if let Some(picker) = &mut self.picker {
            picker.draw(self.now_ms);
            if picker.is_tree() {
                return Vec::new();
            }
            picker.rows(width, room.saturating_sub(usize::from(word.is_some())), &theme)
        } else if self.panels.help {
            self.help(width, room.saturating_sub(KEPT.min(room / 3)))
        } else if let Some(completion) = &self.prompt.completion {
            completion.rows(self.prompt.word().1, (width, room), &theme)
        } else {
            return Vec::new();
        };
        // What was told meanwhile is seen beside it.
        if let Some(word) = word.filter(|_| self.picker.is_some()) {
            rows.push(cut(&Line::styled(format!(" {word}"), theme.warning), width));
        }
        rows.truncate(room);
        rows
    }

    fn question(&mut self, question: u64, width: usize, room: usize) -> Vec<Line<'static>> {
        let fitting = |other: Other| other.in_width(width, &self.theme);
        let others: Vec<Other> = self.desk.others().into_iter().map(fitting).collect();
        let armed = self.facing.armed(question);
        let elsewhere = match self.purpose {
            Purpose::Message => asked::question_place(self) == Place::Field,
            Purpose::Agent(_) | Purpose::Rule => true,
            Purpose::Reason(_) | Purpose::Revision(_) => false,
        };
        self.facing.draw_keys(elsewhere, self.now_ms);
        let asks_first = self.standing().approval == ApprovalMode::AskFirst;
        let esc = asked::esc(self);
        let refuses = matches!(self.purpose, Purpose::Reason(_));
        let revises = matches!(self.purpose, Purpose::Revision(_));
        let node = self.desk.child().and_then(|agent| self.agents().node(agent));
        let task = node.map(|node| clean_line(&node.task)).filter(|task| !task.is_empty());
        let asks = Asks { esc, asks_first, others: &others, armed, elsewhere, refuses, revises, ..Asks::default() };
        let among_others = self.agents().live() > 0;
        let asks = Asks { goes_back: self.set_up, now_ms: self.now_ms, task: task.as_deref(), among_others, ..asks };
        let (rows, named) = self.desk.rows(asks, width, room, &self.theme);
        let covered = others.into_iter().take(named).filter(|other| other.mark == Mark::Covered);
        self.facing.named = covered.map(|other| other.call).collect();
        rows
    }

    /// The keys, as many as there is room for.
    fn help(&mut self, width: usize, room: usize) -> Vec<Line<'static>> {
        let rows = panel::key_rows(&self.keymap, width, &self.theme);
        let dim = self.theme.dim;
        let hint = |place: &str| {
            let keys = ["Letters search, commands too   Esc closes", "Letters search   Esc closes", "Esc closes"];
            let rows = keys.map(|keys| Line::styled(format!("   {place}{keys}"), dim));
            let least = rows.last().cloned().unwrap_or_default();
            rows.into_iter().find(|row| row.width() <= width).unwrap_or_else(|| cut(&least, width))
        };
        if rows.len() < room {
            // They stand apart from the field and from what closes them, where there is room for that, too.
            let apart = (rows.len() + 2 < room).then(Line::default);
            return apart.clone().into_iter().chain(rows).chain(apart).chain([hint("")]).collect();
        }
        let most = room.saturating_sub(1);
        self.panels.help_from = self.panels.help_from.min(rows.len().saturating_sub(most));
        let first = self.panels.help_from;
        let more = hint(&format!("{} to {} of {} · ↑↓   ", first + 1, first + most, rows.len()));
        rows.into_iter().skip(first).take(most).chain([more]).collect()
    }

    /// The agent that is looked at.
    fn watched_rows(&mut self, with: Drawn<'_>, room: usize) -> Vec<Line<'static>> {
        let Drawn { width, theme, .. } = with;
        let Some(watched) = &mut self.watched else { return Vec::new() };
        let node = self.transcript.view.agents.node(watched.agent);
        let (agents, context) = (&self.transcript.view.agents, watched.context());
        let head = node.map(|node| panel::head_row(node, agents, context, with.now_ms, width, theme));
        let blank = (room > ROOMY).then(Line::default);
        let left = room.saturating_sub(2 + usize::from(blank.is_some()));
        let with = Drawn { sends_away: false, ..with };
        let (rows, below) = watched.rows(with, left);
        let all: Vec<Line<'static>> = rows.into_iter().flat_map(|row| fitting(row, width)).collect();
        // What it was asked to do stands above what it does, unless that is on the screen as it was said.
        let task = node.filter(|_| all.len() >= left).map(|node| panel::task_row(node, width, theme));
        let more = (below > 0).then(|| Line::styled(format!("   ↓ {below} more rows"), theme.dim));
        let shown = last(all.into_iter().chain(more).collect(), left);
        head.into_iter().chain(task).chain(blank).chain(shown).collect()
    }

    /// Whether nobody works.
    pub(crate) fn rests(&self) -> bool {
        let is_alone = self.agents().working().next().is_none();
        is_alone && !self.standing().works() && workflows::running(&self.transcript.view.workflows).is_none()
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
