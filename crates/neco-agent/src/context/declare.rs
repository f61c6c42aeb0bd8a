//! The tools as a model is told of them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use neco_model::ToolDeclaration;
use neco_model::tokens::{Family, estimate};
use neco_proto::ToolOrigin;
use neco_safety::{Policy, Who};
use neco_toolkit::{DynTool, Registry};

use crate::catalogue::{ACTIVATE, CALL, Candidate, ToolCatalogue, declaration, is_everyday};
use crate::mode::declares;
use crate::skills::SKILL;

/// The tools of more MCP servers than these all stand in the catalogue: no request uses so many of them.
const MOST_SERVERS: usize = 20;

/// The tools that are declared, and those that stand in the catalogue. In ask mode tools that write or run do not even
/// exist for the model, in plan mode those that write; what the policy refuses whatever the arguments are does not exist
/// either. Tools that people plug in are declared as long as all of them take at most `most` tokens. `skills` are lines about
/// skills, which stand with the catalogue, or else with the tool that brings them in.
pub(super) fn declare(
    registry: &Registry,
    (policy, who): (&Policy, &Who<'_>),
    most: u64,
    skills: &str,
    family: Family,
) -> (Arc<[ToolDeclaration]>, ToolCatalogue) {
    let exists = |tool: &&Arc<dyn DynTool>| {
        declares(who.mode, tool.as_ref())
            && tool.is_offered()
            && !policy.refuses(tool.name(), tool.origin(), tool.most_touch(), who)
    };
    let (ways, tools): (Vec<_>, Vec<_>) = registry.iter().filter(exists).partition(|tool| is_way(tool.name()));
    let tools: Vec<Candidate> = tools.into_iter().map(Candidate::new).collect();
    let outright = outright(&tools, most, family);
    // Without a way to call what is not declared, everything is.
    let waits = |tool: &Candidate| match (ways.len(), tool.tool().origin()) {
        (2, ToolOrigin::BuiltIn) => !is_everyday(tool.tool()),
        (2, origin) => !outright.contains(origin),
        _ => false,
    };
    let waiting: Vec<bool> = tools.iter().map(waits).collect();
    if !ToolCatalogue::is_worth(waiting.iter().filter(|waits| **waits).count()) {
        let mut declared: Vec<ToolDeclaration> = tools.into_iter().map(Candidate::into_told).collect();
        if let Some(told) = declared.iter_mut().find(|told| told.name == SKILL) {
            told.description.push_str(skills);
        }
        return (declared.into(), ToolCatalogue::default());
    }
    let (mut declared, mut catalogue) = (Vec::new(), Vec::new());
    for (tool, waits) in tools.into_iter().zip(waiting) {
        if waits { catalogue.push(tool) } else { declared.push(tool.into_told()) }
    }
    let catalogue = ToolCatalogue::new(catalogue);
    declared.extend(ways.into_iter().map(|tool| {
        let mut told = declaration(tool.as_ref());
        if told.name == ACTIVATE {
            told.description.push_str(&catalogue.lines());
            told.description.push_str(skills);
        }
        told
    }));
    (declared.into(), catalogue)
}

/// Those of the origins that people plugged in whose tools are declared: the smallest, as long as all of them together
/// take at most `most` tokens. Servers that are too many are not even measured.
fn outright(tools: &[Candidate], most: u64, family: Family) -> HashSet<ToolOrigin> {
    let is_server = |origin: &ToolOrigin| matches!(origin, ToolOrigin::Mcp { .. });
    let plugged = || tools.iter().filter(|tool| !tool.tool().origin().is_built_in());
    let servers: HashSet<&ToolOrigin> =
        plugged().map(|tool| tool.tool().origin()).filter(|origin| is_server(origin)).collect();
    let too_many = servers.len() > MOST_SERVERS;
    let mut taken: HashMap<&ToolOrigin, u64> = HashMap::new();
    for tool in plugged().filter(|tool| !(too_many && is_server(tool.tool().origin()))) {
        *taken.entry(tool.tool().origin()).or_default() += tool_tokens(tool.told(), family);
    }
    let mut origins: Vec<_> = taken.into_iter().collect();
    origins.sort_by_cached_key(|(origin, tokens)| (*tokens, origin.to_string()));
    let mut room = most;
    let fits = |(origin, tokens): (&ToolOrigin, u64)| {
        room = room.checked_sub(tokens)?;
        Some(origin.clone())
    };
    origins.into_iter().map_while(fits).collect()
}

/// Whether a tool is one of the two by which those are called that are not declared.
fn is_way(name: &str) -> bool {
    [ACTIVATE, CALL].contains(&name)
}

pub(super) fn tool_tokens(tool: &ToolDeclaration, family: Family) -> u64 {
    /// What stands around a declaration on the wire.
    const AROUND: u64 = 12;
    let words = estimate(&tool.name, family) + estimate(&tool.description, family);
    AROUND + words + estimate(&tool.schema.to_string(), family)
}

#[cfg(test)]
mod tests {
    use neco_proto::{ApprovalMode, Mode};
    use neco_safety::Confinement;

    use super::*;
    use crate::catalogue::{self, stub::stub};

    fn tools(origin: &ToolOrigin, names: &[&str]) -> Vec<Arc<dyn DynTool>> {
        names.iter().map(|name| stub(name, "Does what its name says. And more.", origin)).collect()
    }

    /// What is declared and what stands in the catalogue, where tools of one origin may take so many tokens.
    fn split(registry: &Registry, most: u64) -> (Vec<String>, Vec<String>, String) {
        let who = Who {
            mode: Mode::Agent,
            approval: ApprovalMode::Auto,
            person_present: true,
            role: Who::ROOT,
            confinement: Confinement::ChosenNone,
            network: false,
        };
        let (declared, catalogue) = declare(registry, (&Policy::default(), &who), most, "", Family::Other);
        let told = declared.iter().find(|told| told.name == ACTIVATE).map(|told| told.description.clone());
        let declared = declared.iter().map(|told| told.name.clone()).collect();
        (declared, catalogue.names().map(str::to_owned).collect(), told.unwrap_or_default())
    }

    #[test]
    fn tools_for_every_day_are_declared_and_the_others_wait_where_there_is_a_way_to_them() {
        let own = tools(ToolOrigin::BUILT_IN, &["process", "bash", "git", "task", "workflow"]);
        let (declared, waiting, told) = split(&Registry::new(own.clone()).with(catalogue::tools()), 0);
        assert_eq!(declared, ["bash", "task", ACTIVATE, CALL]);
        assert_eq!(waiting, ["process", "git", "workflow"]);
        assert_eq!(told.lines().filter(|line| line.starts_with("- ")).count(), 3, "{told}");
        let all = ["process", "bash", "git", "task", "workflow"];
        let (declared, waiting, _) = split(&Registry::new(own.clone()), 0);
        assert_eq!((declared, waiting.len()), (all.map(str::to_owned).to_vec(), 0), "nobody could call them");
        let few = Registry::new(own).with(catalogue::tools()).filtered(|tool| tool.name() != "git");
        let (declared, waiting, _) = split(&few, 0);
        assert_eq!(
            (declared.join(" "), waiting.len()),
            ("process bash task workflow".to_owned(), 0),
            "two are too few"
        );
    }

    #[test]
    fn plugged_in_tools_are_declared_while_those_of_their_origin_are_small() {
        let (big, small) = (ToolOrigin::Mcp { server: "big".into() }, ToolOrigin::Mcp { server: "small".into() });
        let registry = Registry::new(tools(ToolOrigin::BUILT_IN, &["bash"]))
            .with(catalogue::tools())
            .with(tools(&big, &["one", "two", "three", "four"]))
            .with(tools(&small, &["five"]));
        let one = tool_tokens(&declaration(tools(&big, &["three"])[0].as_ref()), Family::Other);
        let (declared, waiting, told) = split(&registry, 3 * one);
        assert_eq!(declared, ["bash", "five", ACTIVATE, CALL]);
        assert_eq!(waiting, ["one", "two", "three", "four"]);
        assert!(told.ends_with("\n- mcp__big__*: one, two, three, four"), "{told}");
        assert_eq!(split(&registry, 6 * one).1.len(), 0);
        assert_eq!(split(&registry, 4 * one).1.len(), 4, "together they are too much");
    }

    #[test]
    fn the_tools_of_a_hundred_servers_take_little_room() {
        let servers = (0..100).map(|number| ToolOrigin::Mcp { server: format!("s{number}") });
        let named = |(number, server): (usize, ToolOrigin)| tools(&server, &[&format!("mcp__s{number}__echo")]);
        let theirs = servers.enumerate().flat_map(named);
        let registry = Registry::new(tools(ToolOrigin::BUILT_IN, &["bash"])).with(catalogue::tools()).with(theirs);
        let (declared, waiting, told) = split(&registry, u64::MAX);
        assert_eq!((declared.len(), waiting.len()), (3, 100));
        assert!(told.contains("\n- mcp__s99__*: echo") && told.len() < 3000, "{told}");
    }
}
