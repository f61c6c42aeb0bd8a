//! From a line to what is known about it: reads it, judges each part, and follows what the parts start.

use std::path::PathBuf;

use neco_proto::Risk;

use super::environment::{self, Effect};
use super::examined::{Examined, Mention, Opened, Part, Reasons, Word};
use super::finding::{Command, Finding, Inner, Input};
use super::ground::{Ground, is_harmless_device};
use super::judge::judge;
use super::named::{call_git, program_name};
use super::place::Place;
use super::walk::{Standing, Step, walk};
use crate::invisible::hides_something;

/// Longer lines are not read.
const LONGEST_LINE: usize = 64 * 1024;
/// How much text is read for one line, with what its parts start.
const MOST_TEXT: usize = 256 * 1024;
/// How deep shells may start shells before nobody follows.
const DEEPEST: usize = 12;
/// How many things a line may do before nobody follows.
const MOST_STEPS: usize = 1024;
/// How many words are judged for one line, with what its parts start.
const MOST_WORDS: usize = 8192;
/// How many files a yes opens.
const MOST_OPENED: usize = 32;
/// How many folders a line may go to before nobody follows.
const MOST_FOLDERS: usize = 8;
/// How deep what is no more than a guess is followed.
const DEEPEST_GUESS: usize = 6;

/// Examines a command line: every simple command in it is judged, the worst decides. Pure.
#[must_use]
pub fn examine(line: &str, place: &Place) -> Examined {
    let mut examination = Examination::new(place);
    examination.run(line);
    examination.finish()
}

/// What waits to be done, the next one last.
enum Task {
    Script { text: String, input: Input, captured: bool, depth: usize },
    Guess { text: String, hunch: bool, depth: usize },
    Step { step: Step, depth: usize },
}

struct Examination<'a> {
    place: &'a Place,
    found: Examined,
    /// The folders the line may be in now, and those it may have been in at all.
    folders: Vec<PathBuf>,
    seen_folders: Vec<PathBuf>,
    adrift: bool,
    text_left: usize,
    steps_left: usize,
    words_left: usize,
}

impl<'a> Examination<'a> {
    fn new(place: &'a Place) -> Self {
        let found = Examined {
            risk: Risk::Safe,
            never: None,
            because: Reasons::default(),
            clean: true,
            network: false,
            history: None,
            committed: false,
            opens: Vec::new(),
            parts: Vec::new(),
            uncoverable: false,
            standings: Vec::new(),
            mentions: Vec::new(),
        };
        let folders = vec![place.absolute(".")];
        let seen_folders = folders.clone();
        Self {
            place,
            found,
            folders,
            seen_folders,
            adrift: false,
            text_left: MOST_TEXT,
            steps_left: MOST_STEPS,
            words_left: MOST_WORDS,
        }
    }

    fn run(&mut self, line: &str) {
        if line.len() > LONGEST_LINE || line.contains('\0') {
            self.found.clean = false;
            return;
        }
        if hides_something(line) {
            self.raise(Risk::Critical, "the line has characters that hide what it says");
        }
        let mut tasks =
            vec![Task::Script { text: line.to_owned(), input: Input::Inherited, captured: false, depth: 0 }];
        while let Some(task) = tasks.pop() {
            if self.steps_left == 0 {
                self.found.clean = false;
                return;
            }
            self.steps_left -= 1;
            match task {
                Task::Script { text, input, captured, depth } => {
                    self.script(&text, Standing { input, captured, outermost: depth == 0 }, depth, &mut tasks);
                }
                Task::Guess { text, hunch, depth } => self.guess(&text, hunch, depth, &mut tasks),
                Task::Step { step, depth } => self.step(step, depth, &mut tasks),
            }
        }
    }

    fn script(&mut self, text: &str, standing: Standing, depth: usize, tasks: &mut Vec<Task>) {
        if depth > DEEPEST || text.len() > self.text_left {
            self.found.clean = false;
            return;
        }
        self.text_left -= text.len();
        let folder = self.folders.first().filter(|_| self.folders.len() == 1 && !self.adrift).cloned();
        let walked = walk(text, standing, self.place.home.as_deref(), folder.as_deref());
        self.found.clean &= walked.clean;
        if !walked.agreed {
            self.found.uncoverable = true;
            self.raise(Risk::High, "");
        }
        if !walked.clean && squeezed(text).contains(":(){:|:&};:") {
            self.never("it is a fork bomb");
        }
        tasks.extend(walked.steps.into_iter().rev().map(|step| Task::Step { step, depth }));
    }

    /// What can't be read was no command. Whoever allows the code allows what it starts.
    fn guess(&mut self, text: &str, hunch: bool, depth: usize, tasks: &mut Vec<Task>) {
        let standing = Standing { input: Input::Inherited, captured: false, outermost: false };
        if depth > DEEPEST || hunch && depth > DEEPEST_GUESS || text.len() > self.text_left {
            return;
        }
        self.text_left -= text.len();
        let walked = walk(text, standing, self.place.home.as_deref(), None);
        if !walked.clean {
            return;
        }
        let is_program = |command: &Command| command.words.first().is_some_and(|program| program.exact);
        let task = |step: Step| match step {
            Step::Command { command, .. } if hunch => {
                let command = Command { guess: true, vouched: true, ..command };
                is_program(&command).then_some(Task::Step { step: Step::Command { command, moves: false }, depth })
            }
            Step::Script { text } if hunch => Some(Task::Guess { text, hunch, depth: depth + 1 }),
            Step::Command { command, moves } => {
                let step = Step::Command { command: Command { vouched: true, ..command }, moves };
                Some(Task::Step { step, depth })
            }
            Step::Script { .. }
            | Step::Redirect { .. }
            | Step::Assign { .. }
            | Step::Mention { .. }
            | Step::Computes
            | Step::Function { .. }
            | Step::StatementEnd => (!hunch).then_some(Task::Step { step, depth }),
        };
        tasks.extend(walked.steps.into_iter().rev().filter_map(task));
    }

    fn step(&mut self, step: Step, depth: usize, tasks: &mut Vec<Task>) {
        match step {
            Step::Command { command, moves } => self.command(command, moves && depth == 0, depth, tasks),
            Step::Script { text } => {
                tasks.push(Task::Script { text, input: Input::Inherited, captured: true, depth: depth + 1 });
            }
            Step::Redirect { operator, target } => self.redirect(&operator, &target),
            Step::Assign { name, value } => self.assign(&name, &value, depth, tasks),
            Step::Mention { word } => {
                self.mention(word.clone(), false, false);
                if let Some(why) = self.ground().sensitive(&word) {
                    let opened = self.ground().read_by(&word);
                    self.opens(opened);
                    self.raise(Risk::Critical, &format!("{}: {why}", word.text));
                }
            }
            Step::Computes => {
                self.found.uncoverable = true;
                self.raise(Risk::High, "");
            }
            Step::Function { bomb } => {
                self.found.uncoverable = true;
                self.raise(Risk::High, "");
                if bomb {
                    self.never("it is a fork bomb");
                }
            }
            Step::StatementEnd => self.folders.clone_from(&self.seen_folders),
        }
    }

    fn ground(&self) -> Ground<'_> {
        Ground { place: self.place, folders: &self.folders, adrift: self.adrift }
    }

    fn command(&mut self, mut command: Command, moves: bool, depth: usize, tasks: &mut Vec<Task>) {
        if command.words.len() > self.words_left {
            self.words_left = 0;
            self.found.clean = false;
            return;
        }
        self.words_left -= command.words.len();
        call_git(&mut command.words);
        let finding = judge(&command, &self.ground());
        if command.guess {
            return self.guessed(command, finding, depth, tasks);
        }
        let standing = self.standing();
        self.follow(finding.inner.iter().cloned(), depth, tasks);
        self.merge(&finding);
        if let Some("cd" | "pushd" | "popd" | "chdir") = command.words.first().map(|word| word.text.as_str()) {
            self.go(&command.words, moves);
        }
        for (_, value) in command.environment {
            self.found.mentions.push(Mention { word: value, changes: false, surely: false, standing });
        }
        self.found.parts.push(Part {
            words: command.words,
            plain: command.plain,
            risk: finding.risk,
            because: finding.because.told(),
            wrapper: finding.wrapper || command.vouched,
            uncoverable: finding.uncoverable,
            rewrites: finding.rewrites,
            standing,
        });
    }

    /// A command of which nobody knows that it is one: rules that deny look at it. Its rating counts where it begins
    /// with a program that hardly anybody names by chance, and is "never" only where it names a path.
    fn guessed(&mut self, command: Command, finding: Finding, depth: usize, tasks: &mut Vec<Task>) {
        let standing = self.standing();
        // What git tells is told whoever started it.
        self.found.committed |= finding.committed;
        self.found.history = self.found.history.or(finding.history);
        if depth < DEEPEST_GUESS {
            self.follow(finding.inner.into_iter().map(Inner::guessed), depth, tasks);
        }
        if is_deed(&command.words) && finding.risk == Risk::Critical {
            let names_path = command.words.iter().skip(1).any(|word| word.text.contains('/'));
            match finding.never.filter(|_| names_path) {
                Some(why) => self.never(&why),
                None => self.raise_all(finding.risk, &finding.because),
            }
        }
        self.found.parts.push(Part {
            words: command.words,
            plain: false,
            risk: self.found.risk.min(Risk::High),
            because: None,
            wrapper: true,
            uncoverable: false,
            rewrites: false,
            standing,
        });
    }

    /// Where the line stands now.
    fn standing(&mut self) -> usize {
        if self.found.standings.last() != Some(&self.folders) {
            self.found.standings.push(self.folders.clone());
        }
        self.found.standings.len() - 1
    }

    fn mention(&mut self, word: Word, changes: bool, surely: bool) {
        let standing = self.standing();
        self.found.mentions.push(Mention { word, changes, surely, standing });
    }

    fn follow(&mut self, inner: impl DoubleEndedIterator<Item = Inner>, depth: usize, tasks: &mut Vec<Task>) {
        let depth = depth + 1;
        for inner in inner.rev() {
            match inner {
                Inner::Script { text, input } => tasks.push(Task::Script { text, input, captured: false, depth }),
                Inner::Guess(text) => tasks.push(Task::Guess { text, hunch: false, depth }),
                Inner::Hunch(text) => tasks.push(Task::Guess { text, hunch: true, depth }),
                Inner::Command(_) if depth > DEEPEST => self.found.clean = false,
                Inner::Command(command) => {
                    tasks.push(Task::Step { step: Step::Command { command, moves: false }, depth });
                }
            }
        }
    }

    fn merge(&mut self, finding: &Finding) {
        self.raise_all(finding.risk, &finding.because);
        if let Some(why) = &finding.never {
            self.never(why);
        }
        self.found.network |= finding.network;
        self.found.history = self.found.history.or(finding.history);
        self.found.committed |= finding.committed;
        self.opens(finding.opens.clone());
        finding.names.iter().for_each(|word| self.mention(word.clone(), false, false));
        finding.changes.iter().for_each(|word| self.mention(word.clone(), true, true));
    }

    fn opens(&mut self, opened: Vec<Opened>) {
        for one in opened {
            if self.found.opens.len() < MOST_OPENED && !self.found.opens.contains(&one) {
                self.found.opens.push(one);
            }
        }
    }

    /// Goes to another folder: surely, or perhaps.
    fn go(&mut self, words: &[Word], surely: bool) {
        let target = words.iter().skip(1).find(|word| !word.text.starts_with('-'));
        let home = self.place.home.as_ref().and_then(|home| home.to_str()).map(Word::exact);
        let returns = words.iter().skip(1).any(|word| word.text == "-");
        let Some(target) = target.cloned().or(home).filter(|_| !returns) else {
            self.adrift = true;
            self.found.uncoverable = true;
            return;
        };
        let reached: Vec<PathBuf> =
            self.folders.iter().map(|folder| self.place.absolute_from(folder, &target.text)).collect();
        // It may be anywhere, and what is written is the best guess.
        self.adrift |= !target.exact;
        // A rule was given for the folder the line starts in: elsewhere the same words start other things.
        let start = self.place.absolute(".");
        self.found.uncoverable |= !target.exact || reached.iter().any(|folder| *folder != start);
        if surely && target.exact {
            self.folders.clone_from(&reached);
        }
        for folder in reached {
            if !self.seen_folders.contains(&folder) {
                self.seen_folders.push(folder.clone());
            }
            if !self.folders.contains(&folder) {
                self.folders.push(folder);
            }
        }
        if self.seen_folders.len() > MOST_FOLDERS {
            self.adrift = true;
            self.folders.truncate(MOST_FOLDERS);
            self.seen_folders.truncate(MOST_FOLDERS);
        }
    }

    fn assign(&mut self, name: &str, value: &Word, depth: usize, tasks: &mut Vec<Task>) {
        self.mention(value.clone(), false, false);
        let mut finding = Finding::new();
        let effect = environment::judge(name, value, &self.ground(), &mut finding);
        match effect {
            Effect::Harmless if finding.risk < Risk::Critical => finding.risk = Risk::Safe,
            Effect::Harmless | Effect::Unknown => self.found.uncoverable = true,
        }
        self.follow(finding.inner.iter().cloned(), depth, tasks);
        self.merge(&finding);
    }

    fn redirect(&mut self, operator: &str, target: &Word) {
        let is_descriptor =
            target.text == "-" || target.text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit());
        if operator.contains('&') && !operator.contains("&>") && is_descriptor || operator.ends_with("&-") {
            return;
        }
        if ["/dev/tcp/", "/dev/udp/"].iter().any(|start| target.text.starts_with(start)) {
            self.found.network = true;
            return self.raise(Risk::Critical, "it opens a connection to anywhere");
        }
        // `<>` opens for both.
        self.mention(target.clone(), operator.contains('>'), true);
        if operator.starts_with('<') {
            return self.reads(target);
        }
        if target.exact && is_harmless_device(std::path::Path::new(&target.text)) {
            return;
        }
        self.found.uncoverable = true;
        self.raise(Risk::High, "it writes to a file");
        let ground = self.ground();
        if ground.is_device(target) {
            self.never(&format!("it overwrites the device {}", target.text));
        } else if ground.is_history(target) {
            self.never("it tampers with the history of the shell");
        } else if ground.is_own_settings(target) {
            self.never("it changes Neco's own settings");
        } else if let Some(why) = ground.guarded(target) {
            let opened = ground.changed_by(target);
            self.opens(opened);
            self.raise(Risk::Critical, &format!("{}: {why}", target.text));
        } else if ground.is_outside(target) && (target.exact || target.text.starts_with(['/', '~', '.'])) {
            let opened = ground.file_outside(target);
            self.opens(opened.into_iter().collect());
            self.raise(Risk::Critical, &format!("{} is outside the workspace", target.text));
        }
    }

    fn reads(&mut self, target: &Word) {
        let ground = self.ground();
        if let Some(why) = ground.sensitive(target) {
            let opened = ground.read_by(target);
            self.opens(opened);
            self.raise(Risk::Critical, &format!("{}: {why}", target.text));
        } else if !target.exact || ground.is_outside(target) {
            self.found.uncoverable = true;
            self.raise(Risk::High, &format!("{} is outside the workspace", target.text));
        }
    }

    /// The worst decides. Everything that is critical is told, of what is less the first.
    fn raise(&mut self, risk: Risk, why: &str) {
        self.raise_all(risk, &Reasons::of(why));
    }

    fn raise_all(&mut self, risk: Risk, why: &Reasons) {
        if risk > self.found.risk {
            self.found.risk = risk;
            self.found.because = Reasons::default();
        }
        if risk == self.found.risk && (risk == Risk::Critical || self.found.because.told().is_none()) {
            self.found.because.add(why);
        }
    }

    fn never(&mut self, why: &str) {
        self.raise(Risk::Critical, why);
        if self.found.never.is_none() {
            self.found.never = Some(why.to_owned());
            self.found.because = Reasons::of(why);
        }
    }

    fn finish(mut self) -> Examined {
        if !self.found.clean {
            self.found.uncoverable = true;
            self.raise(Risk::Critical, "the line could not be read wholly");
        }
        self.found
    }
}

/// Whether words begin with a program that deletes, changes or runs something, and say on what.
fn is_deed(words: &[Word]) -> bool {
    let name = words.first().map(|word| program_name(&word.text)).unwrap_or_default();
    words.len() > 1
        && matches!(&*name, "rm" | "rmdir" | "shred" | "dd" | "mv" | "chmod" | "chown" | "git" | "sh" | "bash" | "zsh")
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|character| !character.is_whitespace()).collect()
}
