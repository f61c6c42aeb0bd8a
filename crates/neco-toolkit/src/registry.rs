//! The tools that exist for one agent.

use std::path::Path;
use std::sync::Arc;

use neco_proto::event::KnownFile;
use neco_proto::{ErrorCode, ToolOrigin};
use neco_safety::tools::{own_name, spelling};
use tokio::sync::watch;

use crate::output::ToolError;
use crate::tool::DynTool;

/// Which tools may be in a registry.
type Filter = Arc<dyn Fn(&dyn DynTool) -> bool + Send + Sync>;

/// The tools that exist for one agent, in the order they are declared. What is not in it can't be called.
///
/// It may follow [`PluggedTools`], which come and go; what it holds stays the same until [`Registry::refresh`], and
/// whatever narrowed it holds for what comes later too.
///
/// ```
/// use neco_toolkit::{PluggedTools, Registry};
///
/// let plugged = PluggedTools::default();
/// let mut registry = Registry::default().following(&plugged);
/// assert!(!registry.refresh(), "nothing came or went");
/// ```
#[derive(Clone, Default)]
pub struct Registry {
    tools: Vec<Arc<dyn DynTool>>,
    /// How many of them are its own; the others are plugged in.
    own: usize,
    plugged: Option<watch::Receiver<Vec<Arc<dyn DynTool>>>>,
    filters: Vec<Filter>,
    /// Those that were plugged in once and are not any more.
    gone: Vec<(String, ToolOrigin)>,
}

impl Registry {
    /// A registry of these tools.
    pub fn new(tools: Vec<Arc<dyn DynTool>>) -> Self {
        Self { own: tools.len(), tools, ..Self::default() }
    }

    /// The tools, in the order they are declared.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn DynTool>> {
        self.tools.iter()
    }

    /// The same with more tools, after those of its own.
    #[must_use]
    pub fn with(mut self, tools: impl IntoIterator<Item = Arc<dyn DynTool>>) -> Self {
        let plugged = self.tools.split_off(self.own);
        self.tools.extend(tools);
        self.own = self.tools.len();
        self.tools.extend(plugged);
        self
    }

    /// The same with what is plugged in, now and later. A tool whose name is taken is left out.
    #[must_use]
    pub fn following(mut self, plugged: &PluggedTools) -> Self {
        let mut watched = plugged.watch();
        let there = watched.borrow_and_update().clone();
        self.plugged = Some(watched);
        self.plug_in(there);
        self
    }

    /// Takes up what was plugged in and pulled out since it last looked; says whether that changed anything.
    pub fn refresh(&mut self) -> bool {
        let Some(watched) = self.plugged.as_mut().filter(|watched| watched.has_changed().unwrap_or(false)) else {
            return false;
        };
        let there = watched.borrow_and_update().clone();
        self.plug_in(there)
    }

    /// The same with what was plugged in and pulled out since it last looked.
    pub fn fresh(&self) -> Self {
        let mut fresh = self.clone();
        fresh.refresh();
        fresh
    }

    fn plug_in(&mut self, there: Vec<Arc<dyn DynTool>>) -> bool {
        let before = self.tools.split_off(self.own);
        for tool in there {
            let passes = self.filters.iter().all(|keep| keep(tool.as_ref()));
            // Whoever plugs a tool in can't have it called in place of one of this program.
            let means_another = !tool.origin().is_built_in() && own_name(tool.name()).is_some();
            if passes && !means_another && !self.has(tool.name()) {
                self.tools.push(tool);
            }
        }
        let left = before.iter().filter(|tool| !self.has(tool.name()));
        let left: Vec<_> = left.map(|tool| (tool.name().to_owned(), tool.origin().clone())).collect();
        let mut gone = std::mem::take(&mut self.gone);
        gone.extend(left);
        gone.retain(|(name, _)| !self.has(name));
        self.gone = gone;
        let plugged = self.tools.iter().skip(self.own);
        let same = |(now, before): (&Arc<dyn DynTool>, &Arc<dyn DynTool>)| Arc::ptr_eq(now, before);
        plugged.len() != before.len() || !plugged.zip(&before).all(same)
    }

    /// Tells the tools what the model knows of files from an earlier process; relative paths are below `workspace`.
    pub fn recall(&self, known: &[KnownFile], workspace: &Path) {
        self.tools.iter().for_each(|tool| tool.recall(known, workspace));
    }

    /// Only the tools that `keep` is true of, also of those that come later.
    pub fn filtered(&self, keep: impl Fn(&dyn DynTool) -> bool + Send + Sync + 'static) -> Self {
        let mut narrowed = self.clone();
        let own = self.tools.iter().take(self.own).filter(|tool| keep(tool.as_ref())).count();
        narrowed.tools.retain(|tool| keep(tool.as_ref()));
        narrowed.own = own;
        narrowed.filters.push(Arc::new(keep));
        narrowed
    }

    /// Only the tools of these names, aliases included, also of those that come later. A name of none is passed over.
    pub fn named(&self, names: &[String]) -> Self {
        let there: Vec<String> = names.iter().filter_map(|name| Some(self.spelt(name)?.name().to_owned())).collect();
        let later = names.iter().filter(|name| self.spelt(name).is_none());
        let later: Vec<String> = later.map(|name| spelling(name).into_owned()).collect();
        self.filtered(move |tool| {
            let name = tool.name();
            there.iter().any(|one| one == name) || later.iter().any(|one| one.eq_ignore_ascii_case(name))
        })
    }

    /// Only the tools named, aliases included.
    /// Fails with [`ErrorCode::ToolNotFound`] for a name that is none, with near ones.
    pub fn only(&self, names: &[String]) -> Result<Self, ToolError> {
        names.iter().try_for_each(|name| self.find(name).map(drop))?;
        Ok(self.named(names))
    }

    /// The same tools, with those in place of its own that `kept` knows. What is plugged in stays: whoever brings it
    /// says which one it is.
    #[must_use]
    pub fn keeping(mut self, kept: impl Fn(&Arc<dyn DynTool>) -> Option<Arc<dyn DynTool>>) -> Self {
        for tool in self.tools.iter_mut().take(self.own) {
            if let Some(kept) = kept(tool) {
                *tool = kept;
            }
        }
        self
    }

    /// Whether there is a tool of exactly this name.
    pub fn has(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.name() == name)
    }

    /// Whether a tool of somebody below may exist as far as this one's own tools go: it has one of the name, or it would
    /// let such a one be plugged in.
    pub fn lets_through(&self, tool: &dyn DynTool) -> bool {
        let passes = || self.filters.iter().all(|keep| keep(tool));
        self.has(tool.name()) || !tool.origin().is_built_in() && passes()
    }

    /// The tool of a name, however it is spelt.
    /// Fails with [`ErrorCode::ToolNotFound`] with near names, or that it is gone.
    pub fn find(&self, name: &str) -> Result<&Arc<dyn DynTool>, ToolError> {
        self.spelt(name).ok_or_else(|| ToolError::new(ErrorCode::ToolNotFound, self.not_found(name)))
    }

    /// The one name of a tool that a model called, which is what everyone is told who is asked about the call; the name
    /// as it is where there is no such tool.
    pub fn own_name(&self, name: String) -> String {
        self.spelt(&name).map(|tool| tool.name().to_owned()).unwrap_or(name)
    }

    fn spelt(&self, name: &str) -> Option<&Arc<dyn DynTool>> {
        let same = |tool: &&Arc<dyn DynTool>| tool.name() == name;
        let spelling = spelling(name);
        // Tools of servers may differ in case alone.
        let spelt = |tool: &&Arc<dyn DynTool>| tool.name().eq_ignore_ascii_case(&spelling);
        self.tools.iter().find(same).or_else(|| self.tools.iter().find(spelt))
    }

    fn not_found(&self, name: &str) -> String {
        if let Some((name, origin)) = self.gone.iter().find(|(gone, _)| gone.eq_ignore_ascii_case(&spelling(name))) {
            return format!("the tool {name:?} is gone: {origin} does not offer it any more; go on without it");
        }
        let mut near: Vec<(f64, &str)> =
            self.tools.iter().map(|tool| (strsim::jaro_winkler(name, tool.name()), tool.name())).collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        let near: Vec<&str> = near.iter().filter(|(score, _)| *score > 0.7).take(3).map(|(_, name)| *name).collect();
        if near.is_empty() {
            let all: Vec<&str> = self.tools.iter().map(|tool| tool.name()).collect();
            return format!("there is no tool {name:?}; there are: {}", all.join(", "));
        }
        format!("there is no tool {name:?}; did you mean {}?", near.join(" or "))
    }
}

/// Tools that come and go while agents live: those of servers, plugins and scripts. Clones are the same set; a
/// [`crate::Registry`] follows it and takes up what changed when a turn begins.
///
/// ```
/// use neco_proto::ToolOrigin;
/// use neco_toolkit::PluggedTools;
///
/// let plugged = PluggedTools::default();
/// let server = ToolOrigin::Mcp { server: "github".to_owned() };
/// // What the server lists now takes the place of what it listed before.
/// plugged.set(&server, Vec::new());
/// ```
#[derive(Clone)]
pub struct PluggedTools {
    tools: Arc<watch::Sender<Vec<Arc<dyn DynTool>>>>,
}

impl Default for PluggedTools {
    fn default() -> Self {
        Self { tools: Arc::new(watch::Sender::new(Vec::new())) }
    }
}

impl PluggedTools {
    /// Puts the tools of an origin in the place of those that it had; with none, it is pulled out.
    pub fn set(&self, origin: &ToolOrigin, tools: Vec<Arc<dyn DynTool>>) {
        self.tools.send_modify(|all| {
            // The place of an origin stays: of two tools of one name, the same one counts after a change.
            let before = all.iter().take_while(|tool| tool.origin() != origin).count();
            all.retain(|tool| tool.origin() != origin);
            all.splice(before..before, tools);
        });
    }

    /// Puts tools in the place of all those of the origins that are meant; says nothing where there were none and are none.
    pub fn replace(&self, is_meant: impl Fn(&ToolOrigin) -> bool, tools: Vec<Arc<dyn DynTool>>) {
        self.tools.send_if_modified(|all| {
            let before = all.len();
            all.retain(|tool| !is_meant(tool.origin()));
            let is_other = all.len() != before || !tools.is_empty();
            all.extend(tools);
            is_other
        });
    }

    /// All of them, for whoever wants to know when they change.
    pub fn watch(&self) -> watch::Receiver<Vec<Arc<dyn DynTool>>> {
        self.tools.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use neco_proto::Risk;
    use neco_safety::SideEffect;

    use super::*;
    use crate::tool::erase;
    use crate::{Plan, Tool, ToolContext, ToolOutput};

    struct Named<const N: usize>;

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct NoArgs {}

    macro_rules! named {
        ($number:literal, $name:literal) => {
            impl Tool for Named<$number> {
                type Args = NoArgs;
                const NAME: &'static str = $name;
                const DESCRIPTION: &'static str = "";
                const TOUCH: SideEffect = SideEffect::Reads;

                fn summary(&self, _: &NoArgs) -> String {
                    String::new()
                }

                async fn plan(&self, _: &NoArgs, _: &ToolContext) -> Result<Plan, ToolError> {
                    Ok(Plan::of(Risk::Safe))
                }

                async fn run(&self, _: NoArgs, _: &ToolContext) -> Result<ToolOutput, ToolError> {
                    Ok(ToolOutput::text(""))
                }
            }
        };
    }
    named!(0, "read_file");
    named!(1, "bash");

    fn registry() -> Registry {
        Registry::new(vec![erase(Named::<0>), erase(Named::<1>)])
    }

    fn names(registry: &Registry) -> Vec<&str> {
        registry.iter().map(|tool| tool.name()).collect()
    }

    #[test]
    fn tools_are_found_by_name_alias_and_any_case() {
        for (asked, found) in [
            ("read_file", "read_file"),
            ("Read", "read_file"),
            (" BASH ", "bash"),
            ("bash\n", "bash"),
            ("shell", "bash"),
            ("Run_Shell_Command", "bash"),
        ] {
            assert_eq!(registry().find(asked).map(|tool| tool.name().to_owned()).unwrap(), found);
            assert_eq!(registry().own_name(asked.to_owned()), found);
        }
        for unknown in ["ba sh", "bash\u{200b}", "b\u{430}sh", ""] {
            assert!(registry().find(unknown).is_err(), "{unknown:?}");
            assert_eq!(registry().own_name(unknown.to_owned()), unknown);
        }
    }

    #[test]
    fn what_is_plugged_in_comes_and_goes_within_what_narrows() {
        let plugged = PluggedTools::default();
        let mut all = Registry::new(vec![erase(Named::<0>)]).following(&plugged);
        let mut narrowed = all.named(&["read".to_owned(), "later".to_owned()]);
        plugged.set(ToolOrigin::BUILT_IN, vec![erase(Named::<0>), erase(Named::<1>)]);
        assert!(all.refresh() && !all.refresh() && !narrowed.refresh());
        assert_eq!((names(&all), names(&narrowed)), (vec!["read_file", "bash"], vec!["read_file"]));
        plugged.set(ToolOrigin::BUILT_IN, Vec::new());
        assert!(all.refresh());
        let gone = all.find("Bash").err().unwrap();
        assert!(gone.message.contains("\"bash\" is gone: built-in does not offer it"), "{}", gone.message);
    }

    #[test]
    fn what_is_kept_takes_the_place_of_no_plugged_tool() {
        let (plugged, now) = (PluggedTools::default(), erase(Named::<1>));
        plugged.set(ToolOrigin::BUILT_IN, vec![Arc::clone(&now)]);
        let old = registry();
        let had = |tool: &Arc<dyn DynTool>| old.find(tool.name()).ok().cloned();
        let new = Registry::new(vec![erase(Named::<0>)]).following(&plugged).keeping(had);
        let is = |name: &str, tool: &Arc<dyn DynTool>| Arc::ptr_eq(new.find(name).unwrap(), tool);
        assert!(is("read_file", old.find("read_file").unwrap()), "its own is the one that it had");
        assert!(is("bash", &now), "what was plugged in anew is not the old one");
    }

    #[test]
    fn a_miss_names_what_is_near_or_all_there_is() {
        let near = registry().find("read_fiel").err().unwrap();
        assert!(near.message.contains("did you mean read_file?"), "{}", near.message);
        let far = registry().find("teleport").err().unwrap();
        assert!(far.message.contains("there are: read_file, bash"), "{}", far.message);
    }

    #[test]
    fn only_keeps_the_order_of_declaration_and_refuses_what_is_not_there() {
        let only = registry().only(&["Bash".to_owned(), "read".to_owned()]).unwrap();
        assert_eq!(names(&only), ["read_file", "bash"]);
        assert_eq!(registry().only(&["grep".to_owned()]).err().unwrap().code, ErrorCode::ToolNotFound);
    }
}
