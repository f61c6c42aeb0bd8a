//! Generations: named levels of what an agent can do, as a tool set and a prompt. They are data
//! (`generations.toml`); a higher one has everything of the lower ones.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use neco_proto::Layer;
use neco_toolkit::Registry;
use serde::Deserialize;

use crate::context::{Situation, Source};

/// A generation that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CapabilityLevel(u8);

/// That there is no such generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no tool level {0}; there are 1 to {highest}", highest = CapabilityLevel::highest().number())]
pub struct UnknownGeneration(pub u8);

/// One entry of the table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Which.
    pub number: u8,
    /// What it is called.
    pub name: String,
    /// The tools it adds.
    #[serde(default)]
    pub adds: Vec<String>,
    /// Those of them that are not declared by themselves, each with the line that stands for it.
    #[serde(default)]
    pub catalogue: BTreeMap<String, String>,
    /// Tools it would add that do not exist yet.
    #[serde(default)]
    pub not_yet: Vec<String>,
    /// What stands above what the model is told about them.
    pub heading: Option<String>,
    /// What the model is told about them.
    #[serde(default)]
    pub says: Vec<Line>,
}

/// A line of what the model is told.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// The tools without which it says nothing of use.
    pub needs: Vec<String>,
    /// The line.
    pub text: String,
}

impl Entry {
    /// What the model is told about the tools that it has.
    fn told(&self, has: &dyn Fn(&str) -> bool) -> Option<String> {
        let says = self.says.iter().filter(|line| line.needs.iter().all(|tool| has(tool)));
        let says: Vec<&str> = says.map(|line| line.text.as_str()).collect();
        let heading = self.heading.iter().map(String::as_str);
        (!says.is_empty()).then(|| heading.chain(says.iter().copied()).collect::<Vec<_>>().join("\n"))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    generation: Vec<Entry>,
}

/// The table, from the lowest. It is part of the program and a test reads it, so it can be read.
fn table() -> &'static [Entry] {
    static TABLE: OnceLock<Vec<Entry>> = OnceLock::new();
    TABLE.get_or_init(|| {
        toml::from_str(include_str!("../generations.toml")).map(|table: Table| table.generation).unwrap_or_default()
    })
}

impl CapabilityLevel {
    /// The generation of a number.
    pub fn new(number: u8) -> Result<Self, UnknownGeneration> {
        if table().iter().any(|entry| entry.number == number) {
            return Ok(Self(number));
        }
        Err(UnknownGeneration(number))
    }

    /// The highest one.
    pub fn highest() -> Self {
        Self(table().iter().map(|entry| entry.number).max().unwrap_or(1))
    }

    /// The next lower one.
    pub fn below(self) -> Option<Self> {
        table().iter().map(|entry| entry.number).filter(|number| *number < self.0).max().map(Self)
    }

    /// Its number.
    pub fn number(self) -> u8 {
        self.0
    }

    /// Everything it is made of, from the lowest.
    pub fn entries(self) -> impl Iterator<Item = &'static Entry> {
        table().iter().filter(move |entry| entry.number <= self.0)
    }

    /// Whether a tool exists for it. Tools that no generation names are plugged in by people and
    /// exist from the generation on that has what is plugged in.
    pub fn has(self, tool: &str) -> bool {
        match Self::of_tool(tool) {
            Some(generation) => generation <= self,
            None => self >= PLUGGED_IN,
        }
    }

    /// The generation that adds a tool, whether or not the tool exists yet.
    pub fn of_tool(tool: &str) -> Option<Self> {
        // An agent as a tool does what `task` does.
        let tool = if tool.starts_with("agent__") { "task" } else { tool };
        let named = |entry: &&Entry| entry.adds.iter().chain(&entry.not_yet).any(|name| name == tool);
        table().iter().find(named).map(|entry| Self(entry.number))
    }

    /// The line that stands for a tool that is not declared by itself; nothing for tools that are, and for those that
    /// people plug in.
    pub fn line(tool: &str) -> Option<&'static str> {
        table().iter().find_map(|entry| entry.catalogue.get(tool)).map(String::as_str)
    }

    /// Those of `tools` that exist for it.
    pub fn narrow(self, tools: &Registry) -> Registry {
        tools.filtered(move |tool| self.has(tool.name()))
    }
}

/// The generation from which on plugged-in tools exist.
const PLUGGED_IN: CapabilityLevel = CapabilityLevel(2);

/// The prompt of the generation.
pub struct GenerationPrompt;

impl Source for GenerationPrompt {
    fn layer(&self) -> Layer {
        Layer::Generation
    }

    fn text(&self, situation: &Situation) -> Option<String> {
        self.text_beside(situation, &|tool| situation.generation.has(tool))
    }

    /// What it says of a tool that the model does not have would only mislead it.
    fn text_beside(&self, situation: &Situation, has: &dyn Fn(&str) -> bool) -> Option<String> {
        let told: Vec<String> = situation.generation.entries().filter_map(|entry| entry.told(has)).collect();
        (!told.is_empty()).then(|| told.join("\n\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_can_be_read_and_counts_from_one_without_gaps() {
        let read: Table = toml::from_str(include_str!("../generations.toml")).unwrap();
        let numbers: Vec<u8> = read.generation.iter().map(|entry| entry.number).collect();
        assert_eq!(numbers, (1..=8).collect::<Vec<_>>());
        let mut names: Vec<&String> =
            read.generation.iter().flat_map(|entry| entry.adds.iter().chain(&entry.not_yet)).collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all, "a tool belongs to one generation");
        for Entry { adds, catalogue, .. } in &read.generation {
            for (tool, line) in catalogue {
                assert!(adds.contains(tool) && line.chars().count() <= 70, "{tool}: {line}");
            }
        }
    }

    #[test]
    fn the_page_about_generations_says_what_the_table_says() {
        let page = include_str!("../../../docs/planning.md");
        for Entry { number, name, adds, not_yet, .. } in table() {
            let cells = [number.to_string(), name.clone(), adds.join(", "), not_yet.join(", ")];
            let row = format!("| {} |", cells.join(" | ")).replace("  ", " ");
            assert!(page.lines().any(|line| line == row), "docs/planning.md needs this row:\n{row}");
        }
    }

    #[test]
    fn a_higher_generation_has_everything_of_the_lower_ones() {
        let generation = |number| CapabilityLevel::new(number).unwrap();
        for (tool, from) in
            [("bash", 1), ("grep", 2), ("todo_write", 3), ("web_fetch", 4), ("memory_store", 5), ("mine", 2)]
        {
            for number in 1..=8 {
                assert_eq!(generation(number).has(tool), number >= from, "{tool} in generation {number}");
            }
        }
        assert_eq!(CapabilityLevel::highest(), generation(8));
    }

    #[test]
    fn a_number_that_is_none_is_told_so() {
        for number in [0, 9, 255] {
            let error = CapabilityLevel::new(number).unwrap_err();
            assert_eq!(error.to_string(), format!("there is no tool level {number}; there are 1 to 8"));
        }
    }

    #[test]
    fn the_prompt_grows_with_the_generation() {
        let text = |number| {
            let generation = CapabilityLevel::new(number).unwrap();
            GenerationPrompt.text(&Situation {
                mode: neco_proto::Mode::Agent,
                generation,
                rooms: crate::context::Rooms::ENDLESS,
            })
        };
        assert_eq!(text(1), None);
        assert!(!text(2).unwrap().contains("todo_write"));
        let third = text(3).unwrap();
        assert!(third.contains("glob and grep") && third.contains("todo_write"), "{third}");
        assert!(text(8).unwrap().starts_with(&third));
    }

    #[test]
    fn nothing_is_said_of_tools_that_are_not_there() {
        let situation = Situation {
            mode: neco_proto::Mode::Ask,
            generation: CapabilityLevel::highest(),
            rooms: crate::context::Rooms::ENDLESS,
        };
        let text = |has: &dyn Fn(&str) -> bool| GenerationPrompt.text_beside(&situation, has);
        assert_eq!(text(&|_| false), None);
        let asked = text(&|tool| tool == "ask_user").unwrap();
        assert!(asked.starts_with("Plans and lists\n- Ask with ask_user") && !asked.contains("todo_write"), "{asked}");
        assert!(text(&|tool| tool != "enter_plan_mode").unwrap().contains("todo_write"));
        for line in table().iter().flat_map(|entry| &entry.says) {
            assert!(line.needs.iter().all(|tool| CapabilityLevel::of_tool(tool).is_some()), "{}", line.text);
        }
    }
}
