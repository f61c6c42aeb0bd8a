//! The tools that exist for one agent.

use std::path::Path;
use std::sync::Arc;

use neco_proto::ErrorCode;
use neco_proto::event::KnownFile;
use neco_safety::tools::spelling;

use crate::output::ToolError;
use crate::tool::DynTool;

/// The tools that exist for one agent, in the order they are declared. What is not in it can't be called.
#[derive(Clone, Default)]
pub struct Registry {
    tools: Vec<Arc<dyn DynTool>>,
}

impl Registry {
    /// A registry of these tools.
    #[must_use]
    pub fn new(tools: Vec<Arc<dyn DynTool>>) -> Self {
        Self { tools }
    }

    /// The tools, in the order they are declared.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn DynTool>> {
        self.tools.iter()
    }

    /// The same with more tools, after those there are.
    #[must_use]
    pub fn with(mut self, tools: impl IntoIterator<Item = Arc<dyn DynTool>>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// Tells the tools what the model knows of files from an earlier process; relative paths are below `workspace`.
    pub fn recall(&self, known: &[KnownFile], workspace: &Path) {
        self.tools.iter().for_each(|tool| tool.recall(known, workspace));
    }

    /// Only the tools named, aliases included.
    ///
    /// # Errors
    /// [`ErrorCode::ToolNotFound`] for a name that is none, with near ones.
    pub fn only(&self, names: &[String]) -> Result<Self, ToolError> {
        let wanted = names.iter().map(|name| self.find(name).cloned()).collect::<Result<Vec<_>, _>>()?;
        let keep = |tool: &&Arc<dyn DynTool>| wanted.iter().any(|one| one.name() == tool.name());
        Ok(Self { tools: self.tools.iter().filter(keep).cloned().collect() })
    }

    /// The tool of a name, however it is spelt.
    ///
    /// # Errors
    /// [`ErrorCode::ToolNotFound`] with near names.
    pub fn find(&self, name: &str) -> Result<&Arc<dyn DynTool>, ToolError> {
        self.spelt(name).ok_or_else(|| ToolError::new(ErrorCode::ToolNotFound, self.not_found(name)))
    }

    /// The one name of a tool that a model called, which is what everyone is told who is asked about the call; the name
    /// as it is where there is no such tool.
    #[must_use]
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Plan, Tool, ToolContext, ToolOutput, tool::erase};
    use neco_proto::Risk;
    use neco_safety::SideEffect;

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
