//! The files of a patch as they are and as they will be; nothing here writes.

use std::path::Path;

use neco_proto::{ErrorCode, Risk};
use neco_safety::path::{Access, Attributes, Located, PathError, Stamp};
use neco_safety::secrets::Redactor;
use neco_safety::untrusted;
use neco_toolkit::{Plan, ToolError, counted};

use super::hunk::{Act, FilePatch, Hunk};
use super::place::patched;
use super::report;
use crate::files::call::FileCall;
use crate::files::change::{MOST_BYTES, not_text};
use crate::files::judged::{Judgement, Seen, attributes_of};
use crate::files::ledger::{Ledger, Needed};
use crate::files::left_out::{self, Written};
use crate::files::matching::Fit;
use crate::files::sniff::{Kind, SNIFFED, sniff};
use crate::files::text::{Form, is_crlf, with_crlf};
use crate::files::{marked, near};

/// Bytes of all files of a patch together: they are held in memory, before anybody is asked.
const MOST_TOGETHER: u64 = 128 * 1024 * 1024;

/// Files that a patch deletes before that is the deletion of many.
const FEW: usize = 5;

/// A file that a patch touches.
#[derive(Debug)]
pub struct Staged {
    pub located: Located,
    judgement: Judgement,
    /// What is on the disk; `None` when there is no file.
    pub before: Option<Before>,
    /// How its text will stand in it.
    pub form: Form,
    /// The text that it will have; `None` when there will be no file.
    pub text: Option<Vec<u8>>,
    /// Whether all of the new text is known to the agent.
    pub known: Needed,
    /// What it will have besides its content, where that is another file's.
    pub like: Option<Attributes>,
    /// Where its content comes from, when it was moved or copied here.
    pub from: Option<String>,
    /// Whether what it comes from stays.
    pub copied: bool,
    /// Where its content went.
    pub moved_to: Option<String>,
    /// What there is to say about how it was done.
    pub notes: Vec<String>,
}

/// A file on the disk.
#[derive(Debug)]
pub struct Before {
    /// Its content.
    pub bytes: Vec<u8>,
    /// Its state.
    pub stamp: Stamp,
    /// What it has besides its content, where all of that can be read.
    pub attributes: Option<Attributes>,
}

impl Before {
    /// Its text and how that stands in it; an error in words when it is no text.
    fn decoded(&self, shown: &str) -> Result<(Form, Vec<u8>), ToolError> {
        match sniff(self.bytes.get(..SNIFFED).unwrap_or(&self.bytes)) {
            Kind::Text(form) => {
                let text = form.decode(&self.bytes).ok_or_else(|| not_text(shown, "damaged UTF-16"))?;
                Ok((form, text))
            }
            Kind::Binary(kind) => Err(not_text(shown, kind)),
        }
    }

    /// Its text, where it is one.
    pub fn text(&self) -> Option<Vec<u8>> {
        self.decoded("").ok().map(|(_, text)| text)
    }
}

impl Staged {
    /// Whether a file goes for good: what is moved stays, under another name.
    pub fn is_deleted(&self) -> bool {
        self.before.is_some() && self.text.is_none() && self.moved_to.is_none()
    }

    /// Whether it is as on the disk, as far as the patch was read.
    fn is_untouched(&self) -> bool {
        self.text.is_some() && self.moved_to.is_none() && !self.is_changed()
    }

    /// Whether all of a file may be replaced that the patch quotes nothing of: it was read, as for any other
    /// tool that overwrites.
    fn check_overwrite(&self, ledger: &Ledger) -> Result<(), ToolError> {
        match &self.before {
            // There is nothing to lose in an empty file.
            Some(before) if !before.bytes.is_empty() => {
                ledger.check(self.located.path(), &self.located.shown(), &before.stamp, &before.bytes, Needed::All)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Whether anything is to be written.
    pub fn is_changed(&self) -> bool {
        let bytes = self.text.as_deref().map(|text| self.form.encode(text));
        bytes.as_deref() != self.before.as_ref().map(|before| before.bytes.as_slice())
    }
}

/// All files of a patch.
#[derive(Debug, Default)]
pub struct Stage {
    /// In the order in which the patch names them.
    pub staged: Vec<Staged>,
    /// Names that were judged: a patch may name a file more than once.
    judged: Vec<String>,
    /// Bytes read so far.
    bytes: u64,
}

impl Stage {
    /// Works out what a patch would make of the files.
    /// The error is the first thing that can't be done, with the file and the hunk.
    pub fn of(patch: &[FilePatch], call: &FileCall) -> Result<Self, ToolError> {
        let mut stage = Self::default();
        for file in patch {
            call.go_on()?;
            let at = stage.file(&file.path, call)?;
            match &file.act {
                Act::Add(text) => stage.add(at, text, call)?,
                Act::Delete(hunks) => stage.delete(at, hunks, call)?,
                Act::Update { hunks, move_to, copy } => {
                    let (form, text) = stage.update(at, hunks, call)?;
                    match move_to {
                        None => stage.put(at, form, text),
                        Some(to) => stage.relocate(at, to, *copy, (form, text), call)?,
                    }
                }
            }
            if let Some(staged) = stage.staged.get_mut(at) {
                staged.notes.extend(file.notes.iter().cloned());
            }
        }
        for gone in stage.staged.iter().filter(|staged| staged.before.is_some() && staged.text.is_none()) {
            call.ctx.world.check_remove(&gone.located)?;
        }
        if !stage.staged.iter().any(Staged::is_changed) {
            return Err(invalid("the patch changes nothing: every file is already as it would be".to_owned()));
        }
        Ok(stage)
    }

    /// What the policy judges.
    pub fn plan(&self) -> Plan {
        let plans: Vec<Plan> = self.staged.iter().map(|staged| staged.judgement.plan()).collect();
        let risk = plans.iter().map(|plan| plan.risk).max().unwrap_or(Risk::Medium);
        let because = plans.iter().find_map(|plan| plan.because.clone());
        let paths = plans.into_iter().flat_map(|plan| plan.paths).collect();
        let deleted = self.staged.iter().filter(|staged| staged.is_deleted()).count();
        let (least, deletes) = match deleted {
            0 => (Risk::Medium, None),
            1..=FEW => (Risk::High, Some(format!("it deletes {}", counted(deleted, "file", "files")))),
            _ => (Risk::Critical, Some(format!("it deletes {deleted} files"))),
        };
        Plan { because: because.or(deletes), paths, ..Plan::of(risk.max(least)) }
    }

    /// The index of a file, which is looked at when it is first named.
    fn file(&mut self, path: &str, call: &FileCall) -> Result<usize, ToolError> {
        let located = call.files().locate(path, Access::Write)?;
        if let Some(at) = self.position(located.path()) {
            if !self.judged.iter().any(|judged| judged == path) {
                call.judge.judge(path, &located, Access::Write)?;
                self.judged.push(path.to_owned());
            }
            return Ok(at);
        }
        let judgement = call.judge.judge(path, &located, Access::Write)?;
        self.judged.push(path.to_owned());
        let before = before(&located, call, MOST_TOGETHER.saturating_sub(self.bytes))?;
        let seen = before
            .as_ref()
            .map_or(Seen::Nothing, |before| Seen::file(before.attributes.clone(), before.stamp, &before.bytes));
        call.judge.find(path, &located.shown(), seen)?;
        self.bytes += before.as_ref().map_or(0, |before| before.bytes.len() as u64);
        let (form, text) = match &before {
            Some(before) => {
                before.decoded(&located.shown()).map_or((Form::PLAIN, None), |(form, text)| (form, Some(text)))
            }
            None => (Form::PLAIN, None),
        };
        let known = call.ledger.known(located.path());
        self.staged.push(Staged {
            located,
            judgement,
            before,
            form,
            text,
            known,
            like: None,
            from: None,
            copied: false,
            moved_to: None,
            notes: Vec::new(),
        });
        Ok(self.staged.len() - 1)
    }

    fn position(&self, path: &Path) -> Option<usize> {
        self.staged.iter().position(|staged| staged.located.path() == path)
    }

    fn add(&mut self, at: usize, text: &str, call: &FileCall) -> Result<(), ToolError> {
        let Some(staged) = self.staged.get_mut(at) else { return Ok(()) };
        // What the patch itself deleted or wrote before is known to it.
        if staged.is_untouched() {
            staged.check_overwrite(&call.ledger)?;
        }
        let shown = staged.located.shown();
        let old = match (&staged.before, &staged.text) {
            (Some(before), None) => before.decoded(&shown)?.1,
            (_, text) => text.clone().unwrap_or_default(),
        };
        let old_text = String::from_utf8_lossy(&old);
        marked::check(&call.redactor(), text, &old_text, &shown)?;
        let text = untrusted::restored(text, &old_text).into_owned();
        left_out::check(&Written { shown: &shown, file: &old_text, old: &old_text, new: &text })?;
        let text = text.strip_prefix('\u{feff}').filter(|_| staged.form.mark).unwrap_or(&text);
        let keeps_crlf = is_crlf(&old) && !text.contains('\r');
        staged.text = Some(if keeps_crlf { with_crlf(text.as_bytes()) } else { text.as_bytes().to_vec() });
        (staged.known, staged.moved_to) = (Needed::All, None);
        Ok(())
    }

    fn delete(&mut self, at: usize, hunks: &[Hunk], call: &FileCall) -> Result<(), ToolError> {
        let Some(staged) = self.staged.get_mut(at) else { return Ok(()) };
        if staged.text.is_none() && (staged.before.is_none() || staged.moved_to.is_some()) {
            return Err(near::not_found(call.files(), &staged.located));
        }
        if !hunks.is_empty() {
            let (_, left) = self.update(at, hunks, call)?;
            let Some(staged) = self.staged.get(at) else { return Ok(()) };
            if !left.is_empty() {
                return Err(ToolError::new(
                    ErrorCode::EditTextNotFound,
                    format!(
                        "{} has more in it than the lines that the patch removes; nothing was changed. Read it again",
                        staged.located.shown()
                    ),
                ));
            }
        }
        if let Some(staged) = self.staged.get_mut(at) {
            staged.text = None;
        }
        Ok(())
    }

    /// The text of a file after its hunks.
    fn update(&mut self, at: usize, hunks: &[Hunk], call: &FileCall) -> Result<(Form, Vec<u8>), ToolError> {
        let Some(staged) = self.staged.get_mut(at) else { return Ok((Form::PLAIN, Vec::new())) };
        let shown = staged.located.shown();
        let (form, old) = match (&staged.before, &staged.text) {
            (_, Some(text)) => (staged.form, text.clone()),
            (Some(before), None) if staged.moved_to.is_none() => before.decoded(&shown)?,
            (Some(_) | None, None) => return Err(near::not_found(call.files(), &staged.located)),
        };
        if hunks.is_empty() {
            return Ok((form, old));
        }
        let hunks = restored(hunks, &old, &shown, &call.redactor())?;
        let patched = patched(&old, &hunks, &|| call.ctx.cancel.is_cancelled())
            .map_err(|(index, misfit)| report::refusal(&shown, index, hunks.len(), &misfit))?;
        staged.notes.extend(fit_notes(&patched.fits));
        if std::str::from_utf8(&old).is_err()
            && hunks.iter().any(|hunk| hunk.new_lines().iter().any(|line| !line.is_ascii()))
        {
            let note = "the file is not UTF-8 throughout, and the new lines are: it mixes encodings now";
            staged.notes.push(note.to_owned());
        }
        Ok((form, patched.content))
    }

    fn put(&mut self, at: usize, form: Form, text: Vec<u8>) {
        if let Some(staged) = self.staged.get_mut(at) {
            (staged.form, staged.text) = (form, Some(text));
        }
    }

    fn relocate(
        &mut self,
        from: usize,
        to: &str,
        copy: bool,
        (form, text): (Form, Vec<u8>),
        call: &FileCall,
    ) -> Result<(), ToolError> {
        let target = self.file(to, call)?;
        if target == from {
            self.put(from, form, text);
            return Ok(());
        }
        let Some(source) = self.staged.get_mut(from) else { return Ok(()) };
        let (shown, known) = (source.located.shown(), source.known);
        let like = match &source.before {
            Some(Before { attributes: None, .. }) if source.located.exists() => {
                return Err(PathError::NotKept(shown).into());
            }
            Some(Before { attributes, .. }) => attributes.clone(),
            None => None,
        };
        let notes = if copy { Vec::new() } else { std::mem::take(&mut source.notes) };
        let Some(target) = self.staged.get_mut(target) else { return Ok(()) };
        // What is no text is not overwritten unseen, and what nobody read neither.
        if let (Some(before), None) = (&target.before, &target.text) {
            before.decoded(&target.located.shown())?;
        }
        if target.is_untouched() {
            target.check_overwrite(&call.ledger)?;
        }
        (target.form, target.text, target.known, target.like) = (form, Some(text), known, like);
        (target.from, target.copied) = (Some(shown), copy);
        target.notes.extend(notes);
        let to = target.located.shown();
        if let Some(source) = self.staged.get_mut(from).filter(|_| !copy) {
            source.text = None;
            source.moved_to = Some(to);
        }
        Ok(())
    }
}

/// What is on the disk, if it is still what the agent has read or was never read.
fn before(located: &Located, call: &FileCall, room: u64) -> Result<Option<Before>, ToolError> {
    if !call.ctx.world.has(located) {
        return Ok(None);
    }
    let shown = located.shown();
    let is_too_much = |length: u64| length > room && length <= MOST_BYTES;
    if located.exists() && located.metadata().is_ok_and(|facts| facts.is_file() && is_too_much(facts.len())) {
        let message = format!(
            "the files of this patch have more than {} MB together, up to {shown}; make several patches of it",
            MOST_TOGETHER / (1024 * 1024)
        );
        return Err(ToolError::new(ErrorCode::FileTooLarge, message));
    }
    let attributes = attributes_of(located)?;
    let (bytes, stamp) = call.ctx.world.read(located, MOST_BYTES + 1)?;
    if bytes.len() as u64 > MOST_BYTES {
        let message = format!("{shown} has {} bytes, too many to patch here; change it with a command", stamp.size());
        return Err(ToolError::new(ErrorCode::FileTooLarge, message));
    }
    // The lines that a patch quotes prove what is there; of a file that was read they could be older than it is.
    if call.ledger.is_known(located.path()) && !bytes.is_empty() {
        call.ledger.check(located.path(), &shown, &stamp, &bytes, Needed::Some)?;
    }
    Ok(Some(Before { bytes, stamp, attributes }))
}

/// The hunks with what was broken for the model made whole again.
fn restored(hunks: &[Hunk], old: &[u8], shown: &str, redactor: &Redactor) -> Result<Vec<Hunk>, ToolError> {
    let original = String::from_utf8_lossy(old);
    let mut hunks = hunks.to_vec();
    for line in hunks.iter_mut().flat_map(|hunk| &mut hunk.lines) {
        marked::check(redactor, &line.text, &original, shown)?;
        if let std::borrow::Cow::Owned(whole) = untrusted::restored(&line.text, &original) {
            line.text = whole;
        }
    }
    for hunk in &hunks {
        let joined = |lines: &[&[u8]]| String::from_utf8_lossy(&lines.join(&b'\n')).into_owned();
        let (old, new) = (joined(&hunk.old_lines()), joined(&hunk.new_lines()));
        left_out::check(&Written { shown, file: &original, old: &old, new: &new })?;
    }
    Ok(hunks)
}

/// How hunks had to be read, where that is worth a word.
fn fit_notes(fits: &[Fit]) -> Vec<String> {
    let several = fits.len() > 1;
    let note = |(index, fit): (usize, &Fit)| {
        let how = report::fit_words(*fit)?;
        Some(if several { format!("hunk {} fits {how}", index + 1) } else { format!("it fits {how}") })
    };
    fits.iter().enumerate().filter_map(note).collect()
}

fn invalid(message: String) -> ToolError {
    ToolError::new(ErrorCode::InvalidArguments, message)
}
