//! The command lines of the person: the one that runs, and what the model was not told yet of those before. Beside it the
//! line of a command of their own that runs before that is said.

use neco_proto::Message;
use neco_proto::clean::clean_line;
use ratatui::text::{Line, Span};

use crate::command_lines::{LONGEST, stopped_after};
use crate::text::figures;
use crate::told::{Output, fenced, with_what_ran};
use crate::transcript::block::Drawn;
use crate::transcript::ledger;
use crate::transcript::tail::Tail;

/// Rows of the command that runs, and when the person wants to see more.
const ROWS: (usize, usize) = (6, 24);

/// The command lines of the person.
#[derive(Debug, Default)]
pub struct Shell {
    running: Option<Running>,
    /// A line of a command of the person's own.
    line: Option<Running>,
    /// What ran and the model was not told yet.
    ran: Vec<String>,
}

#[derive(Debug)]
struct Running {
    command: String,
    /// What it printed last.
    tail: Tail,
    /// All it printed, as far as the model will be told.
    output: Output,
}

impl Shell {
    /// Whether a command runs.
    pub(crate) fn runs(&self) -> bool {
        self.running.is_some() || self.line.is_some()
    }

    /// Whether a line of a command of the person's own runs.
    pub(crate) fn runs_line(&self) -> bool {
        self.line.is_some()
    }

    /// A line of a command of the person's own begins, after the one before it.
    pub(crate) fn line_begins(&mut self, line: &str) {
        self.line = Some(Running::new(line));
    }

    /// It printed something; so many lines before that were left out.
    pub(crate) fn line_printed(&mut self, left_out: usize, text: &str) {
        let Some(line) = &mut self.line else { return };
        line.tail.leave_out(left_out);
        line.tail.push(text);
    }

    /// No line runs any more.
    pub(crate) fn lines_end(&mut self) {
        self.line = None;
    }

    /// A command is run.
    pub(crate) fn start(&mut self, command: &str) {
        self.running = Some(Running::new(command));
    }

    /// The command printed something.
    pub(crate) fn printed(&mut self, text: &str) {
        let Some(running) = &mut self.running else { return };
        running.tail.push(text);
        running.output.push(text);
    }

    /// So many lines of what it prints next were left out.
    pub(crate) fn left_out(&mut self, lines: usize) {
        let Some(running) = &mut self.running else { return };
        running.tail.leave_out(lines);
        running.output.leave_out();
    }

    /// The command is over; gives what is told of it, or why there is nothing to tell.
    pub(crate) fn end(&mut self, ended: Result<Option<i32>, String>) -> Option<Result<String, String>> {
        let Running { command, output, .. } = self.running.take()?;
        Some(ended.map(|code| {
            let how = match code {
                Some(0) => String::new(),
                Some(code) => format!("(exit code {code})"),
                None => "(stopped)".to_owned(),
            };
            let text = output.told(&command, &how);
            self.ran.push(fenced(&text, ""));
            text
        }))
    }

    /// A message that tells the model what it was not told yet.
    pub(crate) fn tell_with(&mut self, message: String) -> String {
        with_what_ran(message, &std::mem::take(&mut self.ran))
    }

    /// What was written of a message that comes back; what ran goes along with whatever is said next.
    pub(crate) fn keep_what_ran(&mut self, text: &str) -> String {
        let (written, ran) = text.split_once(Message::RAN).unwrap_or((text, ""));
        self.ran.extend((!ran.is_empty()).then(|| ran.to_owned()));
        Message::written(written).to_owned()
    }

    /// The model of another session is told nothing of it.
    pub(super) fn forget(&mut self) {
        self.ran.clear();
    }

    /// The commands that run and what each printed last, on a terminal of this height.
    pub(crate) fn rows(&self, with: Drawn<'_>, height: usize) -> Vec<Line<'static>> {
        let line = self.line.iter().flat_map(|line| line.rows(with, height, &stopped_after(LONGEST)));
        line.chain(self.running.iter().flat_map(|running| running.rows(with, height, ""))).collect()
    }
}

impl Running {
    fn new(command: &str) -> Self {
        Self { command: command.to_owned(), tail: Tail::default(), output: Output::default() }
    }

    /// Its row, with what is known of its end, and what it printed last.
    fn rows(&self, with: Drawn<'_>, height: usize, ends: &str) -> Vec<Line<'static>> {
        let most = if with.expanded { ROWS.1 } else { ROWS.0 };
        let glyph = Span::styled(figures::turning(with.frame), with.theme.accent);
        let head = ledger::head(glyph, "Shell", with.theme.accent);
        let keys = ledger::keys(&[("Esc", "stop")], with.theme);
        let right: usize = keys.iter().map(Span::width).sum();
        let room = with.width.saturating_sub(right + 3);
        let ends = Vec::from_iter((!ends.is_empty()).then(|| Span::styled(format!("  {ends}"), with.theme.dim)));
        let left = ledger::row(head, vec![Span::raw(clean_line(&self.command))], ends, room);
        let mut rows = vec![ledger::sprung(left.spans, keys, with.width)];
        rows.extend(self.tail.rows(with.width, most.min(height / 3), with.theme));
        rows
    }
}
