//! What the agent wants to know: a choice, what becomes of a plan, whether it may go on.

use neco_proto::visible::{visible, visible_line};
use neco_proto::{EmptyAnswer, ItemAnswer, Question, QuestionItem, Reply, Subject};

use super::offers::{Offers, Row};
use super::question::{Place, Step, Typed, Want};
use neco_view::ask::{PLAN_ANSWERS, PlanAnswer, PlanMeans};
use neco_view::paint::wrap::wrap_under;

/// Lines of a question around a plan.
const AROUND: usize = 12;
/// Lines of a plan that are shown however small the terminal is.
const LEAST: usize = 10;

/// A question of the agent that is on the screen.
pub struct Inquiry {
    pub(super) question: Question,
    pub(super) place: Place,
    /// What was answered so far.
    answers: Vec<ItemAnswer>,
    /// What the line is that is being read.
    line: Line,
    /// The answer that arrows went to.
    at: Option<usize>,
}

/// What a key comes to.
enum Meant {
    Reply { said: &'static str, reply: Reply },
    Write { line: Line, said: &'static str, ask: &'static str },
    Edit,
}

/// What a line that is read means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// An answer to the next thing that is asked, or nothing in particular.
    Answer,
    /// What should be different about the plan.
    Revision,
    /// What the agent should do instead.
    Advice,
}

impl Inquiry {
    /// The question, as it is asked at `place`.
    pub fn new(question: Question, place: Place) -> Self {
        Self { question, place, answers: Vec::new(), line: Line::Answer, at: None }
    }

    /// What is to be read first.
    pub fn want(&self) -> Want {
        match self.question.subject {
            Subject::Choices { .. } => Want::Line,
            Subject::Plan { .. } | Subject::Loop { .. } => Want::Key,
        }
    }

    /// The question as it is shown.
    pub fn shown(&self) -> String {
        let paint = self.place.paint;
        match &self.question.subject {
            Subject::Choices { .. } => self.item_shown(),
            Subject::Plan { plan } => {
                let heading = format!("{} {}", paint.yellow("?"), paint.bold("The plan is ready"));
                let lines = [vec![heading], self.plan_lines(plan, self.most()), vec![self.keys_again()]];
                lines.concat().join("\n")
            }
            Subject::Loop { text } => {
                let heading = format!("{} {}", paint.yellow("?"), paint.bold("The agent is repeating itself"));
                let why = self.place.wrapped(&paint.dim(&format!("  {}", visible_line(text))));
                format!("{heading}\n{why}\n{}", self.keys_again())
            }
        }
    }

    /// Takes what was typed; gives what to write and what follows.
    pub fn on(&mut self, typed: Typed) -> (String, Step) {
        match typed {
            Typed::End => (self.place.chosen("no answer (end of input)"), Step::Reply(self.no())),
            Typed::Line(line) => self.read_line(line.trim()),
            Typed::Key(key) => self.key(key),
            Typed::Arrow { down } => (self.offers().step(&mut self.at, down, &self.place), Step::Read(Want::Key)),
            Typed::Words => (self.hint(), Step::Read(Want::Key)),
        }
    }

    /// What a person reads when an answer was not taken.
    pub fn again(&self, words: &str) -> String {
        self.place.again(words, &self.keys_again())
    }

    /// The keys and the prompt.
    pub fn keys_again(&self) -> String {
        let paint = self.place.paint;
        if let Subject::Choices { .. } = self.question.subject {
            return self.place.prompt();
        }
        let all = if self.is_cut() { format!("\n  {} show all", paint.bold("d")) } else { String::new() };
        format!("{}{all}\n{}", self.offers().lines(&self.place), self.place.prompt())
    }

    /// The plan that waits.
    pub fn plan(&self) -> Option<&str> {
        match &self.question.subject {
            Subject::Plan { plan } => Some(plan),
            Subject::Choices { .. } | Subject::Loop { .. } => None,
        }
    }

    /// What closing the question means.
    fn no(&self) -> Reply {
        match self.question.subject {
            Subject::Choices { .. } | Subject::Loop { .. } => Reply::Dismiss,
            Subject::Plan { .. } => Reply::DropPlan,
        }
    }

    fn key(&mut self, key: char) -> (String, Step) {
        if let Subject::Choices { .. } = self.question.subject {
            return self.read_line(&key.to_string());
        }
        let meant = self.offers().meant(key, self.at).and_then(|index| self.offered().into_iter().nth(index));
        match (meant, self.plan()) {
            (Some((_, Meant::Reply { said, reply })), _) => (self.place.chosen(said), Step::Reply(reply)),
            (Some((_, Meant::Write { line, said, ask })), _) => self.ask_line(line, said, ask),
            (Some((_, Meant::Edit)), _) => (self.place.chosen("editing…"), Step::Edit),
            (None, Some(plan)) if key.eq_ignore_ascii_case(&'d') && self.is_cut() => {
                let all = self.plan_lines(plan, usize::MAX).join("\n");
                (self.place.chosen("all of it"), Step::Page(all))
            }
            (None, _) => (self.hint(), Step::Read(Want::Key)),
        }
    }

    fn ask_line(&mut self, line: Line, chosen: &str, words: &str) -> (String, Step) {
        self.line = line;
        let ask = self.place.paint.dim(&format!("  {words}"));
        (format!("{}{ask}", self.place.chosen(chosen)), Step::Read(Want::Line))
    }

    fn read_line(&mut self, line: &str) -> (String, Step) {
        match self.line {
            Line::Revision if line.is_empty() => {
                self.line = Line::Answer;
                (self.again("nothing was said; the plan is still waiting"), Step::Read(Want::Key))
            }
            Line::Revision => (String::new(), Step::Reply(Reply::RevisePlan { comments: line.to_owned() })),
            Line::Advice => {
                let comments = Some(line.to_owned()).filter(|line| !line.is_empty());
                (String::new(), Step::Reply(Reply::GoOn { comments }))
            }
            Line::Answer => self.answer(line),
        }
    }

    fn answer(&mut self, line: &str) -> (String, Step) {
        let Some(item) = self.item() else { return (String::new(), Step::Reply(self.no())) };
        match read_answer(item, line) {
            Ok(answer) => self.answers.push(answer),
            Err(words) => return (self.again(&words), Step::Read(Want::Line)),
        }
        if self.item().is_some() {
            return (self.item_shown(), Step::Read(Want::Line));
        }
        (String::new(), Step::Reply(Reply::Choices { answers: self.answers.clone() }))
    }

    fn items(&self) -> &[QuestionItem] {
        match &self.question.subject {
            Subject::Choices { items } => items,
            Subject::Plan { .. } | Subject::Loop { .. } => &[],
        }
    }

    /// The next thing that is asked.
    fn item(&self) -> Option<&QuestionItem> {
        self.items().get(self.answers.len())
    }

    fn item_shown(&self) -> String {
        let paint = self.place.paint;
        let Some(item) = self.item() else { return String::new() };
        let count = match self.items().len() {
            1 => String::new(),
            all => paint.dim(&format!(" ({} of {all})", self.answers.len() + 1)),
        };
        let title = match visible_line(&item.title) {
            title if title.is_empty() => String::new(),
            title => format!("{}: ", paint.bold(&title)),
        };
        let mut lines =
            vec![self.place.wrapped(&format!("{} {title}{}{count}", paint.yellow("?"), visible_line(&item.text)))];
        for (index, option) in item.options.iter().enumerate() {
            let meaning = match visible_line(&option.description) {
                text if text.is_empty() => text,
                text => paint.dim(&format!(" — {text}")),
            };
            let label = visible_line(&option.label);
            lines.push(self.place.wrapped(&format!("  {} {label}{meaning}", paint.bold(&(index + 1).to_string()))));
        }
        let how = match (item.options.is_empty(), item.multiple) {
            (true, _) => "type your answer",
            (false, false) => "a number, or your own words",
            (false, true) => "numbers such as 1,3, or your own words",
        };
        let empty = match item.empty {
            EmptyAnswer::Allowed => "; Enter alone leaves it empty",
            EmptyAnswer::Default => "; Enter alone takes the default",
            EmptyAnswer::Refused => "",
        };
        lines.push(self.place.wrapped(&paint.dim(&format!("  {how}{empty}"))));
        format!("{}\n{}", lines.join("\n"), self.place.prompt())
    }

    /// The answers that one key gives, in the order in which they are offered and with the numbers that they have in
    /// the window.
    fn offered(&self) -> Vec<(Row, Meant)> {
        let row = |key: char, is_numbered: bool, words: &str| Row {
            key,
            is_numbered,
            words: words.to_owned(),
            about: String::new(),
        };
        match &self.question.subject {
            Subject::Choices { .. } => Vec::new(),
            Subject::Plan { .. } => {
                let of = |answer: &PlanAnswer| {
                    let meant = match &answer.means {
                        PlanMeans::Send(reply) => Meant::Reply { said: answer.said, reply: reply.clone() },
                        PlanMeans::Revise => {
                            Meant::Write { line: Line::Revision, said: answer.said, ask: "what should be different? " }
                        }
                        PlanMeans::Edit => Meant::Edit,
                    };
                    let words = match answer.means == PlanMeans::Send(Reply::DropPlan) {
                        // Nothing is planned on here.
                        true => "No, drop it",
                        false => answer.listed.unwrap_or(answer.label),
                    };
                    (row(answer.key, answer.listed.is_some(), words), meant)
                };
                PLAN_ANSWERS.iter().map(of).collect()
            }
            Subject::Loop { .. } => vec![
                (row('y', true, "Yes, go on"), Meant::Reply { said: "go on", reply: Reply::GoOn { comments: None } }),
                (
                    row('i', false, "Yes, and say what it should do instead"),
                    Meant::Write { line: Line::Advice, said: "go on", ask: "what should it do instead? " },
                ),
                (row('n', true, "No, stop here"), Meant::Reply { said: "stopped", reply: Reply::Dismiss }),
            ],
        }
    }

    fn offers(&self) -> Offers {
        Offers(self.offered().into_iter().map(|(row, _)| row).collect())
    }

    fn hint(&self) -> String {
        let all = if self.is_cut() { ", d" } else { "" };
        let words = format!("  not an answer; press {}{all}", self.offers().keys());
        format!("\n{}\n{}", self.place.wrapped(&self.place.paint.dim(&words)), self.place.prompt())
    }

    fn plan_lines(&self, plan: &str, most: usize) -> Vec<String> {
        let rows = self.plan_rows(plan);
        let shown = if rows.len() > most.saturating_add(1) { most } else { rows.len() };
        let left = rows.len() - shown;
        let mut lines: Vec<String> = rows.into_iter().take(shown).collect();
        if left > 0 {
            let lines_word = if left == 1 { "line" } else { "lines" };
            lines.push(self.place.paint.dim(&format!("  … {left} more {lines_word}")));
        }
        lines
    }

    /// The plan as it stands on the screen, a row each: what an item goes on with stands under its text.
    fn plan_rows(&self, plan: &str) -> Vec<String> {
        let row = |line: &str| -> Vec<String> {
            let line = format!("  {line}");
            let text = line.trim_start().trim_start_matches(|char: char| char.is_ascii_digit());
            let marked = ["- ", "* ", "+ ", ". ", ") "].iter().find_map(|mark| text.strip_prefix(mark));
            let hanging = marked.map_or(2, |text| line.len() - text.len());
            wrap_under(&line, self.place.width, hanging).lines().map(str::to_owned).collect()
        };
        visible(plan.trim()).lines().flat_map(row).collect()
    }

    /// Whether not all of the plan is shown.
    fn is_cut(&self) -> bool {
        self.plan().is_some_and(|plan| self.plan_rows(plan).len() > self.most().saturating_add(1))
    }

    fn most(&self) -> usize {
        self.place.rows.saturating_sub(AROUND).max(LEAST)
    }
}

/// Numbers and labels with commas between them, as numbers; nothing when one of them is neither.
fn listed(item: &QuestionItem, line: &str) -> Option<Vec<usize>> {
    let place = |label: &str| item.options.iter().position(|option| option.label.eq_ignore_ascii_case(label));
    let number = |part: &str| part.parse().ok().or_else(|| place(part).map(|at| at + 1));
    line.split(',').map(str::trim).filter(|part| !part.is_empty()).map(number).collect()
}

/// What a line answers: numbers and labels choose, anything else is the person's own words.
fn read_answer(item: &QuestionItem, line: &str) -> Result<ItemAnswer, String> {
    let words: Vec<&str> = line.split([',', ' ']).filter(|word| !word.is_empty()).collect();
    let numbers: Option<Vec<usize>> = words.iter().map(|word| word.parse().ok()).collect();
    let numbers = numbers.or_else(|| listed(item, line).filter(|listed| listed.len() > 1));
    let by_label = item.options.iter().find(|option| option.label.eq_ignore_ascii_case(line));
    match numbers.filter(|numbers| !numbers.is_empty() && !item.options.is_empty()) {
        None => Ok(match by_label {
            Some(option) => ItemAnswer { chosen: vec![option.label.clone()], text: None },
            None => ItemAnswer { chosen: Vec::new(), text: Some(line.to_owned()).filter(|line| !line.is_empty()) },
        }),
        Some(numbers) if numbers.len() > 1 && !item.multiple => Err("one number is enough here".to_owned()),
        Some(mut numbers) => {
            numbers.sort_unstable();
            numbers.dedup();
            let label = |number: &usize| item.options.get(number.checked_sub(1)?).map(|option| option.label.clone());
            let chosen: Option<Vec<String>> = numbers.iter().map(label).collect();
            let chosen = chosen.ok_or_else(|| format!("there are 1 to {}", item.options.len()))?;
            Ok(ItemAnswer { chosen, text: None })
        }
    }
}

#[cfg(test)]
mod tests {
    use neco_proto::{ApprovalMode, QuestionId, QuestionOption};

    use super::*;
    use neco_view::paint::colour::Paint;

    fn inquiry(subject: Subject) -> Inquiry {
        let question = Question { question_id: QuestionId::new(), call_id: None, subject };
        Inquiry::new(question, Place { paint: Paint::default(), width: 80, rows: 24, folder: "/".into() })
    }

    fn item(multiple: bool) -> QuestionItem {
        let option =
            |label: &str, description: &str| QuestionOption { label: label.into(), description: description.into() };
        QuestionItem {
            title: "Store".into(),
            text: "Which database should it use?".into(),
            options: vec![option("SQLite", "one file, no server"), option("Postgres \u{1b}[2J", "")],
            multiple,
            empty: EmptyAnswer::Allowed,
            field: None,
        }
    }

    fn free() -> QuestionItem {
        let (title, text, options) = (String::new(), "What is it called?".into(), Vec::new());
        QuestionItem { title, text, options, multiple: false, empty: EmptyAnswer::Allowed, field: None }
    }

    #[test]
    fn questions_are_asked_one_after_the_other() {
        let mut inquiry = inquiry(Subject::Choices { items: vec![item(false), free()] });
        insta::assert_snapshot!(inquiry.shown());
        let (words, step) = inquiry.on(Typed::Line("1".into()));
        assert_eq!(step, Step::Read(Want::Line));
        insta::assert_snapshot!(words);
        let (_, step) = inquiry.on(Typed::Line(" neco ".into()));
        let answers = vec![
            ItemAnswer { chosen: vec!["SQLite".into()], text: None },
            ItemAnswer { chosen: Vec::new(), text: Some("neco".into()) },
        ];
        assert_eq!(step, Step::Reply(Reply::Choices { answers }));
    }

    #[test]
    fn numbers_labels_and_words_are_answers() {
        let chosen =
            |labels: &[&str]| Ok(ItemAnswer { chosen: labels.iter().map(ToString::to_string).collect(), text: None });
        let said = |text: &str| Ok(ItemAnswer { chosen: Vec::new(), text: Some(text.to_owned()) });
        for (line, multiple, expected) in [
            ("1", false, chosen(&["SQLite"])),
            ("sqlite", false, chosen(&["SQLite"])),
            ("2, 1", true, chosen(&["SQLite", "Postgres \u{1b}[2J"])),
            ("2, sqlite", true, chosen(&["SQLite", "Postgres \u{1b}[2J"])),
            ("1, sqlite, 9", true, Err("there are 1 to 2".to_owned())),
            ("1, and something else", true, said("1, and something else")),
            ("MySQL please", false, said("MySQL please")),
            ("", false, Ok(ItemAnswer::default())),
            ("1 2", false, Err("one number is enough here".to_owned())),
            ("3", false, Err("there are 1 to 2".to_owned())),
            ("0", true, Err("there are 1 to 2".to_owned())),
        ] {
            assert_eq!(read_answer(&item(multiple), line), expected, "{line:?}");
        }
        assert_eq!(read_answer(&free(), "3"), said("3"), "a number is an answer where nothing is numbered");
    }

    #[test]
    fn a_plan_is_shown_and_its_keys_mean_what_they_say() {
        let plan: String = (1..=40).map(|number| format!("{number}. step {number}\n")).collect();
        insta::assert_snapshot!(inquiry(Subject::Plan { plan: "1. look\n2. change `a.rs`\n".into() }).shown());
        let step = |key| inquiry(Subject::Plan { plan: plan.clone() }).on(Typed::Key(key)).1;
        let accept = |approval| Step::Reply(Reply::AcceptPlan { approval, comments: None });
        assert_eq!((step('y'), step('Y')), (accept(None), accept(None)));
        assert_eq!((step('s'), step('2')), (accept(Some(ApprovalMode::AcceptEdits)), step('s')));
        assert_eq!(step('u'), accept(Some(ApprovalMode::Auto)));
        assert_eq!(step('m'), accept(Some(ApprovalMode::Manual)));
        for no in ['n', '5', '\u{1b}'] {
            assert_eq!(step(no), Step::Reply(Reply::DropPlan), "{no:?}");
        }
        assert_eq!((step('1'), step('3')), (accept(None), Step::Read(Want::Line)));
        assert_eq!((step('e'), step('4')), (Step::Edit, Step::Edit));
        // What keeps a rule elsewhere means nothing here.
        assert_eq!(
            (step('x'), step('a'), step('6')),
            (Step::Read(Want::Key), Step::Read(Want::Key), Step::Read(Want::Key))
        );
        assert!(matches!(step('d'), Step::Page(all) if all.contains("40. step 40")));
        let mut inquiry = inquiry(Subject::Plan { plan: plan.clone() });
        assert_eq!(inquiry.on(Typed::Key('r')).1, Step::Read(Want::Line));
        assert_eq!(inquiry.on(Typed::Line(" ".into())).1, Step::Read(Want::Key), "nothing was said");
        assert_eq!(inquiry.on(Typed::Key('r')).1, Step::Read(Want::Line));
        let back = Step::Reply(Reply::RevisePlan { comments: "smaller steps".into() });
        assert_eq!(inquiry.on(Typed::Line("smaller steps".into())).1, back);
    }

    #[test]
    fn a_plan_is_cut_by_the_rows_it_takes_and_wraps_under_its_text() {
        let step = "1. a step that is written at such length that it takes more than one row of the screen it is on, \
                    whoever reads it and wherever that is";
        let plan = [step; 12].join("\n");
        let inquiry = inquiry(Subject::Plan { plan: plan.clone() });
        let rows = inquiry.plan_rows(&plan);
        assert!(rows.len() > 12 && rows[1].starts_with("     ") && !rows[1].starts_with("      "), "{rows:?}");
        let shown = inquiry.plan_lines(&plan, 10);
        assert_eq!(shown.len(), 11);
        assert!(shown[10].contains(&format!("{} more lines", rows.len() - 10)), "{shown:?}");
    }

    #[test]
    fn a_loop_goes_on_or_stays_stopped_and_an_end_is_a_no() {
        let circle = || inquiry(Subject::Loop { text: "grep gave the same result 3 times".into() });
        assert!(circle().shown().contains("The agent is repeating itself"));
        for (yes, no) in [('y', 'n'), ('1', '2')] {
            assert_eq!(circle().on(Typed::Key(yes)).1, Step::Reply(Reply::GoOn { comments: None }));
            assert_eq!(circle().on(Typed::Key(no)).1, Step::Reply(Reply::Dismiss));
        }
        assert_eq!(circle().on(Typed::End).1, Step::Reply(Reply::Dismiss));
        let mut told = circle();
        assert_eq!(told.on(Typed::Key('r')).1, Step::Read(Want::Key), "what sends a plan back means nothing here");
        assert_eq!(told.on(Typed::Key('i')).1, Step::Read(Want::Line));
        let go_on = Step::Reply(Reply::GoOn { comments: Some("use glob".into()) });
        assert_eq!(told.on(Typed::Line("use glob".into())).1, go_on);
        assert_eq!(inquiry(Subject::Plan { plan: "x".into() }).on(Typed::End).1, Step::Reply(Reply::DropPlan));
    }
}
