//! What rules with paths close, whatever the call: for tools that walk where nobody named a file, and for the boxes of
//! commands, of which nobody can tell by their words what they reach.

use std::path::{Path, PathBuf};

use neco_proto::ToolOrigin;
use serde_json::json;

use super::action::{Action, Confinement, SideEffect, Who};
use super::facts::Facts;
use super::judge::Policy;
use super::pattern::{ANY_NAME, PathPattern, ToolPattern};
use super::read::{APPROVALS, MODES};
use super::rule::{Rule, Ruling, Source, When};
use crate::path::Located;
use crate::path::sensitive::is_in_git_folder;
use crate::tools::Effects;

/// What a rule about files is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OnFiles {
    pub(super) tools_read: bool,
    pub(super) reads: bool,
    pub(super) changes: bool,
}

impl OnFiles {
    /// What a rule for these tools is about; none at all are all of them.
    fn of(tools: &[ToolPattern], touches: &[SideEffect]) -> Self {
        let means = |effects: Effects| tools.is_empty() || tools.iter().any(|tool| tool.meant().overlap(effects));
        let touches = |touch: SideEffect| touches.is_empty() || touches.contains(&touch);
        let (read, run) = (means(Effects::READS), tools.is_empty() || tools.iter().any(ToolPattern::is_about_commands));
        let changes = means(Effects::WRITES) || !read && run;
        Self {
            tools_read: read && touches(SideEffect::Reads),
            reads: (read || run) && (touches(SideEffect::Reads) || touches(SideEffect::Runs)),
            changes: changes && (touches(SideEffect::Writes) || touches(SideEffect::Runs)),
        }
    }

    /// Whether it is about commands.
    pub(super) fn of_commands(self) -> bool {
        self.reads || self.changes
    }
}

impl When {
    /// What it is about where it has a path, and nothing about the call but that; nothing otherwise.
    pub(super) fn effects(&self) -> OnFiles {
        let is_about_paths = !self.paths.is_empty()
            && self.args.is_none()
            && self.commands.is_empty()
            && self.hosts.is_empty()
            && self.risks.is_empty()
            && self.folders.is_empty()
            && self.known_safe.is_none()
            && self.history.is_none();
        if is_about_paths { OnFiles::of(&self.tools, &self.touches) } else { OnFiles::default() }
    }

    /// Whether it holds whenever an agent of this role works in this folder, so that a box can be built after it.
    pub(super) fn holds_throughout(&self, role: &str, workspace: &Path) -> bool {
        (self.workspaces.is_empty() || self.workspaces.iter().any(|folder| folder == workspace))
            && (self.roles.is_empty() || self.roles.iter().any(|own| own == role))
            && self.origins.is_empty()
            && self.modes.is_empty()
            && self.approvals.is_empty()
            && self.confinements.is_empty()
            && self.person.is_none()
            && self.network.is_none()
    }
}

/// The one that decides among sayings about a path, in the order in which rules are looked at: as with calls, the first
/// of a flag or of the session, otherwise the first of the user's unless a project's is stricter.
pub(super) fn deciding<T>(fitting: impl Iterator<Item = T>, told: impl Fn(&T) -> (Source, Ruling)) -> Option<T> {
    let mut of_project = None;
    for one in fitting {
        let (source, ruling) = told(&one);
        match source {
            Source::Session | Source::CommandLine => return Some(one),
            Source::Project => of_project = of_project.or(Some(one)),
            Source::User => {
                let stricter = of_project.filter(|project| told(project).1 > ruling);
                return Some(stricter.unwrap_or(one));
            }
            Source::BuiltIn => {}
        }
    }
    of_project
}

/// What a rule says about paths.
#[derive(Clone, Debug)]
struct Saying {
    source: Source,
    decision: Ruling,
    paths: Vec<PathPattern>,
}

/// What rules say about paths, those first that are looked at first.
#[derive(Clone, Debug, Default)]
pub struct Sayings(Vec<Saying>);

impl Sayings {
    /// Whether a path is closed.
    #[must_use]
    pub fn close(&self, path: &Path) -> bool {
        let fitting = self.0.iter().filter(|saying| saying.paths.iter().any(|pattern| pattern.fits(path)));
        deciding(fitting, |saying| (saying.source, saying.decision))
            .is_some_and(|saying| saying.decision == Ruling::Deny)
    }

    /// Whether a flag of this run names a path to open it.
    fn are_opened_by_flags(&self, path: &Path) -> bool {
        let opens = |saying: &&Saying| saying.decision == Ruling::Allow && saying.source >= Source::CommandLine;
        self.0.iter().filter(opens).any(|saying| saying.paths.iter().any(|pattern| pattern.fits(path)))
    }

    /// The patterns that close something.
    pub fn closing(&self) -> impl Iterator<Item = &PathPattern> {
        self.patterns(Ruling::Deny)
    }

    /// The patterns that may open some of it again.
    pub fn opening(&self) -> impl Iterator<Item = &PathPattern> {
        let asked_about = self.patterns(Ruling::Ask);
        self.patterns(Ruling::Allow).chain(asked_about)
    }

    fn patterns(&self, decision: Ruling) -> impl Iterator<Item = &PathPattern> {
        self.0.iter().filter(move |saying| saying.decision == decision).flat_map(|saying| &saying.paths)
    }

    /// Whether nothing is closed.
    pub fn is_empty(&self) -> bool {
        self.closing().next().is_none()
    }
}

/// Files that rules close whatever the call.
#[derive(Clone, Debug, Default)]
pub struct Closed {
    /// To tools that read.
    tools: Sayings,
    /// To commands that read.
    pub reads: Sayings,
    /// To commands that change it.
    pub changes: Sayings,
}

impl Closed {
    /// Whether a file is closed to tools that read: searches and listings leave it out.
    #[must_use]
    pub fn holds(&self, path: &Path) -> bool {
        self.tools.close(path) && !self.tools.are_opened_by_flags(path)
    }

    /// Whether nothing is closed to tools that read.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Whether a file is closed to commands that read.
    #[must_use]
    pub fn keeps_from_commands(&self, path: &Path) -> bool {
        self.reads.close(path)
    }

    /// Whether a file, or all that is in a folder, is closed to commands, be it only for changing.
    #[must_use]
    pub fn stops_commands(&self, path: &Path) -> bool {
        // A folder of which everything is closed is closed itself.
        let inside = path.join(ANY_NAME);
        [path, inside.as_path()].into_iter().any(|path| self.reads.close(path) || self.changes.close(path))
    }

    /// Whether something is closed to commands that read.
    pub fn keeps_something_from_commands(&self) -> bool {
        !self.reads.is_empty()
    }

    /// Whether nothing is closed to commands.
    pub fn is_open_to_commands(&self) -> bool {
        self.reads.is_empty() && self.changes.is_empty()
    }
}

impl Policy {
    /// What rules close to the agent that a person talks to.
    #[must_use]
    pub fn closed(&self) -> Closed {
        self.closed_to(Who::ROOT)
    }

    /// What rules close to an agent of a role, in every mode.
    #[must_use]
    pub fn closed_to(&self, role: &str) -> Closed {
        let workspace = &self.place().workspace;
        let sayings = |about: &dyn Fn(OnFiles) -> bool| {
            let rules = self.rules().iter().filter(|rule| rule.counts_for_paths());
            let rules = rules.filter(|rule| about(rule.when.effects()) && rule.when.holds_throughout(role, workspace));
            let sayings: Vec<Saying> = rules
                .map(|rule| Saying { source: rule.source, decision: rule.decision, paths: rule.when.paths.clone() })
                .collect();
            let closes = sayings.iter().any(|saying| saying.decision == Ruling::Deny);
            Sayings(if closes { sayings } else { Vec::new() })
        };
        Closed {
            tools: sayings(&|effects| effects.tools_read),
            reads: sayings(&|effects| effects.reads),
            changes: sayings(&|effects| effects.changes),
        }
    }

    /// What judges the files that are told without a call.
    pub fn telling(&self) -> Telling {
        let mut policy = self.clone();
        // A rule against reading as such is about a tool, and these are not read with it.
        let about_tools =
            |rule: &Rule| rule.source > Source::BuiltIn && rule.decision > Ruling::Allow && rule.holds_for_every_call();
        policy.retain(|rule| !about_tools(rule));
        Telling::new(policy)
    }

    /// What judges the files that are told in place of reading them: a rule against reading as such closes these too.
    pub fn telling_as_read(&self) -> Telling {
        Telling::new(self.clone())
    }
}

/// Judges files that are told without a call. What is told is told to every agent of a session in every mode, so
/// what one of them may not read none of them is told.
#[derive(Clone, Debug)]
pub struct Telling {
    policy: Policy,
    roles: Vec<String>,
    /// With and without a person, where a rule tells them apart that holds with one.
    persons: &'static [bool],
}

impl Telling {
    /// The tool that stands for everything that reads files.
    pub const READS: &'static str = "read_file";

    fn new(policy: Policy) -> Self {
        let mut roles: Vec<String> = policy.rules().iter().flat_map(|rule| rule.when.roles.iter().cloned()).collect();
        roles.push(Who::ROOT.to_owned());
        roles.sort_unstable();
        roles.dedup();
        let with_person = policy.rules().iter().any(|rule| rule.when.person == Some(true));
        Self { policy, roles, persons: if with_person { &[false, true] } else { &[false] } }
    }

    /// Why a file is not told, in words; nothing where it may be.
    #[must_use]
    pub fn refuses(&self, located: &Located) -> Option<String> {
        let sensitive = located.sensitive_to_read().or_else(|| is_in_git_folder(located.below_root()));
        sensitive.map(str::to_owned).or_else(|| self.refuses_path(located.path()))
    }

    /// The same for a resolved path of which nothing but rules matters.
    pub fn refuses_path(&self, path: &Path) -> Option<String> {
        let (paths, arguments) = ([path.to_path_buf()], json!({ "path": self.named(path) }));
        self.everybody().find_map(|who| self.refuses_who(&paths, &arguments, &who))
    }

    /// As a call would name it.
    fn named<'p>(&self, path: &'p Path) -> std::borrow::Cow<'p, str> {
        path.strip_prefix(&self.policy.place().workspace).unwrap_or(path).to_string_lossy()
    }

    fn everybody(&self) -> impl Iterator<Item = Who<'_>> {
        let ways = MODES.into_iter().flat_map(|mode| APPROVALS.map(|approval| (mode, approval)));
        let ways = ways.flat_map(|way| self.persons.iter().map(move |person| (way, *person)));
        ways.flat_map(|((mode, approval), person_present)| {
            self.roles.iter().map(move |role| Who {
                mode,
                approval,
                person_present,
                role,
                confinement: Confinement::Boxed,
                network: false,
            })
        })
    }

    fn refuses_who(&self, paths: &[PathBuf], arguments: &serde_json::Value, who: &Who<'_>) -> Option<String> {
        let action = Action { paths, ..Action::plain(Self::READS, ToolOrigin::BUILT_IN, arguments, SideEffect::Reads) };
        let facts = Facts::of(&action, who, self.policy.place());
        let decided = self.policy.decide(&facts, None);
        match (decided.ruling, decided.rule) {
            (Ruling::Allow, _) => None,
            (Ruling::Ask, Some(rule)) => Some(format!("a rule asks before it is read ({})", rule.origin())),
            (Ruling::Deny, Some(rule)) => Some(format!("a rule denies reading it ({})", rule.origin())),
            (Ruling::Ask | Ruling::Deny, None) => Some("it may not be read".to_owned()),
        }
    }
}
