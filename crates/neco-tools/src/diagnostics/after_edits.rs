//! Tools that change files, followed by a look at what the checkers say then.
//!
//! The first edit in a project is preceded by a check, so that what was wrong before is not told as
//! new. Of several edits in one turn only the last is followed by one: what is half done is wrong in ways
//! that nobody has to hear of. Checkers run code of the project without anybody being asked, so they run
//! in the sandbox or not at all.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::future::BoxFuture;
use neco_toolkit::{DynTool, Outside, Plan, PreparedCall, ToolContext, ToolError, ToolOutput, Touch};
use serde_json::Value;
use tokio::sync::Mutex;

use super::checker::{Check, Checkers};
use super::find;
use super::known::Known;
use super::report::{counted, listed};
use super::run::run;

/// New problems that are listed after one edit.
const MOST_LISTED: usize = 20;

/// What the tool itself may take, beside the checks.
const OWN_TIME: Duration = Duration::from_secs(60);

/// Puts the check behind every tool that writes.
pub(super) fn wrap(tools: Vec<Arc<dyn DynTool>>, checkers: Arc<Checkers>) -> Vec<Arc<dyn DynTool>> {
    let watch = Arc::new(Watch { checkers, projects: Mutex::default(), said_unboxed: AtomicBool::new(false) });
    let wrapped = |tool: Arc<dyn DynTool>| -> Arc<dyn DynTool> {
        match tool.most_touch() {
            Touch::Writes => Arc::new(Followed { tool, watch: Arc::clone(&watch) }),
            Touch::Reads | Touch::Network | Touch::Runs => tool,
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
    /// Nothing when the first check failed: then nobody could say what is new.
    known: Option<Known>,
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

    fn most_touch(&self) -> Touch {
        self.tool.most_touch()
    }

    fn is_offered(&self) -> bool {
        self.tool.is_offered()
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
    fn touch(&self) -> Touch {
        self.call.touch()
    }

    fn timeout(&self) -> Option<Duration> {
        let checks = self.watch.checkers.time * 2 * u32::try_from(self.watch.checkers.list.len()).unwrap_or(u32::MAX);
        Some(self.call.timeout().unwrap_or(OWN_TIME) + checks)
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
            if !ctx.world.spawn.is_boxed() {
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
        let mut projects = self.projects.lock().await;
        for check in checks {
            let key = (check.name.clone(), check.folder.clone());
            if let Some(project) = projects.get_mut(&key) {
                project.changed = true;
                continue;
            }
            // A check that is stopped is done again before the next edit.
            let Ok(ran) = run(&check, self.checkers.time, ctx).await else { continue };
            let known = ran.broken.is_none().then(|| Known::before(&ran.problems));
            projects.insert(key, Project { check, known, changed: true });
        }
    }

    /// Checks what was changed, and adds what is new to a result.
    async fn look_after(&self, mut output: ToolOutput, ctx: &ToolContext) -> ToolOutput {
        let mut projects = self.projects.lock().await;
        for project in projects.values_mut().filter(|project| project.changed) {
            let Some(known) = &mut project.known else { continue };
            let Ok(ran) = run(&project.check, self.checkers.time, ctx).await else { break };
            project.changed = false;
            let name = &ran.name;
            if let Some(broken) = &ran.broken {
                add(&mut output, &format!("[{name} {}]", broken.why), &broken.said, name);
                continue;
            }
            let news = known.news(&ran.problems);
            let gone = if news.gone == 0 { String::new() } else { format!("; {} are gone", news.gone) };
            if news.new.is_empty() {
                add(&mut output, &format!("[{name} finds no new problems{gone}]"), "", name);
                continue;
            }
            let head = format!("[new problems, by {name}: {}{gone}]", counted(news.new.iter()));
            add(&mut output, &head, &listed(&news.new, ctx.world.files.workspace(), MOST_LISTED), name);
        }
        output
    }

    async fn checks(&self, paths: Vec<PathBuf>, ctx: &ToolContext) -> Vec<Check> {
        let (checkers, world) = (Arc::clone(&self.checkers), Arc::clone(&ctx.world));
        let looking = tokio::task::spawn_blocking(move || {
            let mut checks: Vec<Check> = Vec::new();
            for path in paths {
                // A file that is about to be made is looked for by its name alone.
                let found = find::for_file(&checkers, &world, &path);
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
}
