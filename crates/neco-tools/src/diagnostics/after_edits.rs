//! Tools that change files, followed by a look at what the checkers say then.
//!
//! The first edit in a project is preceded by a check, so that what was wrong before is not told as
//! new. Of several edits in one turn only the last is followed by one: what is half done is wrong in ways
//! that nobody has to hear of. Checkers run code of the project without anybody being asked, so they run
//! in the sandbox or not at all.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::future::BoxFuture;
use neco_proto::ToolOrigin;
use neco_proto::event::{KnownFile, OutputStream};
use neco_toolkit::{DynTool, Outside, Plan, PreparedCall, SideEffect, ToolContext, ToolError, ToolOutput};
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::checker::{Check, Checkers};
use super::find;
use super::problem::{Problem, Severity};
use super::report::{counted, listed};
use super::run::run;

/// New problems that are listed after one edit.
const MOST_LISTED: usize = 20;

/// New problems of one check that the person sees at once.
const MOST_SEEN: usize = 5;

/// What the tool itself may take, beside the checks.
const OWN_TIME: Duration = Duration::from_secs(60);

/// What the scheduler's clock leaves us beyond our own, so that it is never first.
const SLACK: Duration = Duration::from_secs(15);

/// Less time than this is not worth a check.
const LEAST: Duration = Duration::from_secs(1);

/// Puts the check behind every tool that writes.
pub(super) fn wrap(tools: Vec<Arc<dyn DynTool>>, checkers: Arc<Checkers>) -> Vec<Arc<dyn DynTool>> {
    let watch = Arc::new(Watch { checkers, projects: Mutex::default(), said_unboxed: AtomicBool::new(false) });
    let wrapped = |tool: Arc<dyn DynTool>| -> Arc<dyn DynTool> {
        match tool.most_touch() {
            SideEffect::Writes => Arc::new(Followed { tool, watch: Arc::clone(&watch) }),
            SideEffect::Reads | SideEffect::Network | SideEffect::Runs => tool,
        }
    };
    tools.into_iter().map(wrapped).collect()
}

/// What is known of the projects that one agent edits.
struct Watch {
    checkers: Arc<Checkers>,
    projects: Mutex<HashMap<(String, PathBuf), Project>>,
    said_unboxed: AtomicBool,
}

struct Project {
    check: Check,
    /// Nothing while no check went well: then nobody could say what is new.
    known: Option<Known>,
    /// Why the first one did not, and whether that was told.
    broken: String,
    told_broken: bool,
    /// Whether something was changed since the last check.
    changed: bool,
}

/// A tool that is followed by a check.
struct Followed {
    tool: Arc<dyn DynTool>,
    watch: Arc<Watch>,
}

impl DynTool for Followed {
    fn name(&self) -> &str {
        self.tool.name()
    }

    fn description(&self) -> &str {
        self.tool.description()
    }

    fn schema(&self) -> &Value {
        self.tool.schema()
    }

    fn most_touch(&self) -> SideEffect {
        self.tool.most_touch()
    }

    fn origin(&self) -> &ToolOrigin {
        self.tool.origin()
    }

    fn is_offered(&self) -> bool {
        self.tool.is_offered()
    }

    fn recall(&self, known: &[KnownFile], workspace: &Path) {
        self.tool.recall(known, workspace);
    }

    fn prepare(self: Arc<Self>, arguments: Value) -> Result<Box<dyn PreparedCall>, ToolError> {
        let call = Arc::clone(&self.tool).prepare(arguments)?;
        Ok(Box::new(FollowedCall { call, watch: Arc::clone(&self.watch), paths: OnceLock::new() }))
    }
}

struct FollowedCall {
    call: Box<dyn PreparedCall>,
    watch: Arc<Watch>,
    /// What it would change.
    paths: OnceLock<Vec<PathBuf>>,
}

impl PreparedCall for FollowedCall {
    fn touch(&self) -> SideEffect {
        self.call.touch()
    }

    fn timeout(&self) -> Option<Duration> {
        // One before and one after, each in the time that one check may take, however many there are.
        Some(self.call.timeout().unwrap_or(OWN_TIME) + self.watch.checkers.time * 2 + SLACK)
    }

    fn summary(&self) -> String {
        self.call.summary()
    }

    fn arguments(&self) -> &Value {
        self.call.arguments()
    }

    fn plan<'a>(&'a self, ctx: &'a ToolContext) -> BoxFuture<'a, Result<Plan, ToolError>> {
        Box::pin(async move {
            let plan = self.call.plan(ctx).await?;
            let _ = self.paths.set(plan.paths.clone());
            Ok(plan)
        })
    }

    fn run(self: Box<Self>, ctx: ToolContext) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let Self { call, watch, paths } = *self;
            if !ctx.world.processes().is_boxed() {
                let output = call.run(ctx).await?;
                return Ok(watch.unboxed(output));
            }
            watch.look_before(paths.into_inner().unwrap_or_default(), &ctx).await;
            let output = call.run(ctx.clone()).await?;
            if ctx.more_writes {
                return Ok(output);
            }
            Ok(watch.look_after(output, &ctx).await)
        })
    }
}

impl Watch {
    /// Checks the projects of these files that nobody has looked at yet, and notes that all of them change now.
    async fn look_before(&self, paths: Vec<PathBuf>, ctx: &ToolContext) {
        let checks = self.checks(paths, ctx).await;
        let deadline = Instant::now() + self.checkers.time;
        let mut projects = self.projects.lock().await;
        for check in checks {
            let key = (check.name.clone(), check.folder.clone());
            if let Some(project) = projects.get_mut(&key) {
                project.changed = true;
                if project.known.is_some() {
                    continue;
                }
            }
            let Some(limit) = left(deadline) else { break };
            // A check that is stopped is done again before the next edit.
            let Ok(ran) = run(&check, limit, ctx).await else { continue };
            let known = ran.broken.is_none().then(|| Known::before(&ran.problems));
            let broken = ran.broken.map(|broken| broken.why).unwrap_or_default();
            let told_broken = projects.get(&key).is_some_and(|project| project.told_broken);
            projects.insert(key, Project { check, known, broken, told_broken, changed: true });
        }
    }

    /// Checks what was changed, and adds what is new to a result. Whatever becomes of the checks, the result
    /// is that of a tool that did its work.
    async fn look_after(&self, mut output: ToolOutput, ctx: &ToolContext) -> ToolOutput {
        let deadline = Instant::now() + self.checkers.time;
        let mut projects = self.projects.lock().await;
        for project in projects.values_mut().filter(|project| project.changed) {
            let name = project.check.name.clone();
            let Some(known) = &mut project.known else {
                if !std::mem::replace(&mut project.told_broken, true) {
                    let words = format!("[{name} {} before the edit, so what is new is not known]", project.broken);
                    add(&mut output, &words, "", &name);
                }
                continue;
            };
            let Some(limit) = left(deadline) else {
                add(&mut output, &format!("[{name} was not run for lack of time; use diagnostics]"), "", &name);
                continue;
            };
            let ran = match run(&project.check, limit, ctx).await {
                Ok(ran) => ran,
                Err(_) if ctx.cancel.is_cancelled() => break,
                Err(error) => {
                    add(&mut output, &format!("[{name} was not run: {}]", error.message), "", &name);
                    continue;
                }
            };
            project.changed = false;
            if let Some(broken) = &ran.broken {
                add(&mut output, &format!("[{name} {}]", broken.why), &broken.said, &name);
                continue;
            }
            let News { new, gone } = known.news(&ran.problems);
            let gone = match gone {
                0 => String::new(),
                1 => "; 1 is gone".to_owned(),
                gone => format!("; {gone} are gone"),
            };
            if new.is_empty() {
                add(&mut output, &format!("[{name} finds no new problems{gone}]"), "", &name);
                continue;
            }
            let head = format!("new problems, by {name}: {}{gone}", counted(new.iter()));
            let workspace = ctx.world.files().workspace();
            ctx.live.push(OutputStream::Output, &format!("{head}\n{}\n", listed(&new, workspace, MOST_SEEN)));
            add(&mut output, &format!("[{head}]"), &listed(&new, workspace, MOST_LISTED), &name);
        }
        output
    }

    async fn checks(&self, paths: Vec<PathBuf>, ctx: &ToolContext) -> Vec<Check> {
        let (checkers, world) = (Arc::clone(&self.checkers), Arc::clone(&ctx.world));
        let looking = tokio::task::spawn_blocking(move || {
            let mut checks: Vec<Check> = Vec::new();
            for path in paths {
                // A file that is about to be made is looked for by its name alone.
                let found = find::for_file(&checkers, world.as_ref(), &path);
                let is_new =
                    |check: &Check| !checks.iter().any(|one| one.name == check.name && one.folder == check.folder);
                let more: Vec<Check> = found.into_iter().filter(is_new).collect();
                checks.extend(more);
            }
            checks
        });
        looking.await.unwrap_or_default()
    }

    /// Says once why nothing is checked.
    fn unboxed(&self, mut output: ToolOutput) -> ToolOutput {
        if !self.said_unboxed.swap(true, Ordering::Relaxed) {
            let note = "[nothing is checked after edits: there is no sandbox to run checkers in; use diagnostics]";
            add(&mut output, note, "", "");
        }
        output
    }
}

/// The time that is left for one more check, if it is worth one.
fn left(deadline: Instant) -> Option<Duration> {
    Some(deadline.saturating_duration_since(Instant::now())).filter(|left| *left >= LEAST)
}

/// Adds our own words and what a checker said, which is data. There is one part of a result that is data,
/// so where it has one already, what is said goes to its end and our words stand before it.
fn add(output: &mut ToolOutput, words: &str, said: &str, source: &str) {
    let said = said.trim_end();
    let before = output.outside.clone().filter(|outside| {
        !said.is_empty()
            && output.model.is_char_boundary(outside.part.start)
            && output.model.is_char_boundary(outside.part.end)
    });
    if let Some(Outside { source: first, part }) = before {
        let data = output.model.get(part.clone()).unwrap_or_default().trim_end_matches('\n');
        let data = if data.is_empty() { said.to_owned() } else { format!("{data}\n{said}") };
        output.model.replace_range(part.clone(), &format!("{words}\n{data}"));
        let start = part.start + words.len() + 1;
        output.outside = Some(Outside { source: format!("{first}, {source}"), part: start..start + data.len() });
        return;
    }
    if !output.model.is_empty() && !output.model.ends_with('\n') {
        output.model.push('\n');
    }
    output.model.push_str(words);
    if said.is_empty() {
        return;
    }
    output.model.push('\n');
    let start = output.model.len();
    output.model.push_str(said);
    output.outside = Some(Outside { source: source.to_owned(), part: start..output.model.len() });
}

type Identity = (Severity, Option<PathBuf>, Option<String>, String);

/// How often each problem is known of a project. Where it stands does not count: edits move things.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// What was there before the first edit, and what was told since.
    told: HashMap<Identity, usize>,
}

/// What a check came to, against what was known.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct News {
    /// Problems that were not known.
    pub(super) new: Vec<Problem>,
    /// How many known ones are gone.
    pub(super) gone: usize,
}

impl Known {
    /// What is there before the first edit.
    pub(super) fn before(problems: &[Problem]) -> Self {
        Self { told: by_identity(problems) }
    }

    /// What is new now; it is known from then on.
    pub(super) fn news(&mut self, now: &[Problem]) -> News {
        let mut left = self.told.clone();
        let mut new = Vec::new();
        for problem in now {
            match left.get_mut(&problem.identity()) {
                Some(count) if *count > 0 => *count -= 1,
                Some(_) | None => new.push(problem.clone()),
            }
        }
        self.told = by_identity(now);
        News { new, gone: left.values().sum() }
    }
}

fn by_identity(problems: &[Problem]) -> HashMap<Identity, usize> {
    let mut counts = HashMap::new();
    for problem in problems {
        *counts.entry(problem.identity()).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_checker_said_is_data_and_our_words_are_not() {
        let mut plain = ToolOutput::text("Wrote a.");
        add(&mut plain, "[new]", "a:1: x\n", "cargo");
        assert_eq!(plain.model, "Wrote a.\n[new]\na:1: x");
        assert_eq!(plain.outside, Some(Outside { source: "cargo".to_owned(), part: 15..21 }));
        let mut shown = ToolOutput::text("Edited a.\n1\té\n(1 line)").outside(10..15, "a");
        add(&mut shown, "[new]", "a:1: x", "cargo");
        assert_eq!(shown.model, "Edited a.\n[new]\n1\té\na:1: x(1 line)");
        let part = shown.outside.clone().unwrap();
        assert_eq!((part.source.as_str(), &shown.model[part.part]), ("a, cargo", "1\té\na:1: x"));
        add(&mut shown, "[nothing]", "", "tsc");
        assert!(shown.model.ends_with("(1 line)\n[nothing]"), "{}", shown.model);
    }

    fn problem(file: &str, line: u32, message: &str) -> Problem {
        Problem {
            severity: Severity::Error,
            file: Some(PathBuf::from(file)),
            line: Some(line),
            column: None,
            message: message.to_owned(),
            code: None,
        }
    }

    #[test]
    fn only_what_was_not_there_is_new_wherever_it_moved() {
        let old = problem("a", 3, "x");
        let mut known = Known::before(std::slice::from_ref(&old));
        assert_eq!(known.news(&[problem("a", 9, "x")]), News { new: vec![], gone: 0 });
        let second = problem("a", 12, "x");
        assert_eq!(known.news(&[old.clone(), second.clone()]), News { new: vec![second.clone()], gone: 0 });
        assert_eq!(known.news(&[old.clone(), second]), News { new: vec![], gone: 0 }, "told once");
        let other = problem("b", 1, "x");
        assert_eq!(known.news(std::slice::from_ref(&other)), News { new: vec![other], gone: 2 });
        assert_eq!(known.news(&[]), News { new: vec![], gone: 1 });
        assert_eq!(
            known.news(std::slice::from_ref(&old)),
            News { new: vec![old], gone: 0 },
            "mended and broken again is new"
        );
    }
}
