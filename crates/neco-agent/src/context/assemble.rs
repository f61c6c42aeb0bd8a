//! From sources to a request's system prompt and tools.

use std::sync::Arc;

use neco_model::ToolDeclaration;
use neco_model::tokens::{Family, estimate};
use neco_proto::Layer;
use neco_safety::{Policy, Who};
use neco_toolkit::Registry;

use super::declare::{declare, tool_tokens};
use super::prompts::Prompts;
use super::source::{BasePrompt, ModePrompt, Situation, Source};
use crate::capability_level::GenerationPrompt;
use crate::catalogue::ToolCatalogue;
use crate::skills::{SKILL, SkillLine, SkillShelf, lines};

/// What the model is told before the conversation. Made anew only when the situation changes, so
/// that consecutive requests share their beginning byte for byte.
pub struct Context {
    sources: Vec<Arc<dyn Source>>,
    prompts: Arc<Prompts>,
    skills: Arc<[SkillLine]>,
    made: Option<Arc<Assembled>>,
    /// How often it was made.
    times: u64,
}

/// A system prompt and the tools that go with it, and how much room they take.
#[derive(Debug)]
pub struct Assembled {
    situation: Situation,
    who: Who<'static>,
    family: Family,
    /// Of all sources together.
    revision: u64,
    /// Tells one from the next.
    pub(crate) number: u64,
    /// All layers.
    pub system: Arc<str>,
    /// The tools.
    pub tools: Arc<[ToolDeclaration]>,
    /// The tools that it has besides.
    pub catalogue: ToolCatalogue,
    /// The skills that it is told of.
    pub(crate) skills: Arc<[SkillLine]>,
    /// The layers that say something, in order.
    pub layers: Vec<Told>,
    /// Tokens of the declarations of the tools.
    pub tool_tokens: u64,
}

/// What a layer says, and how much room that takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Which.
    pub layer: Layer,
    /// What it says.
    pub text: String,
    /// Its tokens.
    pub tokens: u64,
    /// What was left out of it, in words.
    pub notes: Vec<String>,
}

impl Assembled {
    /// Whether a skill of this name is among those that it is told of.
    pub(crate) fn has_skill(&self, name: &str) -> bool {
        self.skills.iter().any(|skill| skill.name == name)
    }

    /// Tokens of all that is not the conversation.
    pub fn tokens(&self) -> u64 {
        self.layers.iter().map(|layer| layer.tokens).fold(self.tool_tokens, u64::saturating_add)
    }

    /// What takes the most room of it, in words, and how much that is.
    pub fn biggest(&self) -> (String, u64) {
        match self.biggest_layer() {
            Some(layer) => (format!("the layer {}", layer.layer), layer.tokens),
            None => (format!("the declarations of {} tools", self.tools.len()), self.tool_tokens),
        }
    }

    /// What makes that shorter, in words; empty where nothing does.
    pub fn remedy(&self) -> &'static str {
        match self.biggest_layer().map(|layer| layer.layer) {
            None if self.situation.generation.number() > 1 => {
                "A lower tool level (--gen 1) or fewer tools (--tools …) make that shorter"
            }
            None => "Fewer tools (--tools …) make that shorter",
            Some(Layer::Base | Layer::Mode) => {
                "It is a prompt: if it is one of your own (prompts/ beside config.toml, .neco/prompts), make that shorter"
            }
            Some(Layer::Rules) => "Shorter rules files or a smaller context.shares.rules make that shorter",
            Some(Layer::Memory) => "A smaller context.shares.memory makes that shorter",
            Some(Layer::RepoMap | Layer::Files) => "A smaller context.shares.files makes that shorter",
            Some(Layer::Skills | Layer::Agents) => "A smaller context.shares.skills makes that shorter",
            Some(Layer::Generation | Layer::Role | Layer::Environment | Layer::Summary | Layer::Messages) => "",
        }
    }

    /// The layer that takes more room than all others and than the tools.
    fn biggest_layer(&self) -> Option<&Told> {
        let layer = self.layers.iter().max_by_key(|layer| layer.tokens)?;
        (layer.tokens > self.tool_tokens).then_some(layer)
    }
}

#[cfg(test)]
impl Assembled {
    /// Nothing but tools of so many tokens.
    pub(super) fn of_tokens(tool_tokens: u64) -> Self {
        Self {
            situation: Situation {
                mode: neco_proto::Mode::Agent,
                generation: crate::capability_level::CapabilityLevel::highest(),
                rooms: super::space::Rooms::ENDLESS,
            },
            who: Who {
                mode: neco_proto::Mode::Agent,
                approval: neco_proto::ApprovalMode::Auto,
                person_present: false,
                role: Who::ROOT,
                confinement: neco_safety::Confinement::ChosenNone,
                network: false,
            },
            family: Family::Other,
            revision: 0,
            number: 1,
            system: "".into(),
            tools: Arc::from([]),
            catalogue: ToolCatalogue::default(),
            skills: Arc::from([]),
            layers: Vec::new(),
            tool_tokens,
        }
    }
}

impl Context {
    /// A context of the base prompts and `sources`.
    pub fn new(prompts: Arc<Prompts>, sources: Vec<Arc<dyn Source>>) -> Self {
        let mut context =
            Self { sources: Vec::new(), prompts: Arc::clone(&prompts), skills: Arc::from([]), made: None, times: 0 };
        context.renew(prompts, sources);
        context
    }

    /// From now on it is made of these.
    pub fn renew(&mut self, prompts: Arc<Prompts>, sources: Vec<Arc<dyn Source>>) {
        let own: [Arc<dyn Source>; 3] = [
            Arc::new(BasePrompt(Arc::clone(&prompts))),
            Arc::new(ModePrompt(Arc::clone(&prompts))),
            Arc::new(GenerationPrompt),
        ];
        self.sources = own.into_iter().chain(sources).collect();
        self.sources.sort_by_key(|source| source.layer());
        (self.prompts, self.made) = (prompts, None);
    }

    /// The same with skills.
    #[must_use]
    pub fn with_skills(mut self, shelf: Option<&Arc<dyn SkillShelf>>) -> Self {
        self.set_skills(shelf);
        self
    }

    /// The model is told of these skills from now on.
    pub fn set_skills(&mut self, shelf: Option<&Arc<dyn SkillShelf>>) {
        let skills = shelf.map_or_else(|| Arc::from([]), |shelf| shelf.listed());
        if self.skills != skills {
            (self.skills, self.made) = (skills, None);
        }
    }

    /// The prompts.
    pub fn prompts(&self) -> &Prompts {
        &self.prompts
    }

    /// There are other tools: all of it is made anew.
    pub fn forget(&mut self) {
        self.made = None;
    }

    /// The system prompt and the tools for a situation.
    pub fn assemble(
        &mut self,
        situation: Situation,
        (registry, policy): (&Registry, &Policy),
        who: &Who<'_>,
        family: Family,
    ) -> Arc<Assembled> {
        let (kept, revision) = (Who { role: Who::ROOT, ..*who }, self.revision());
        let fits = |made: &Arc<Assembled>| {
            made.situation == situation && made.who == kept && made.family == family && made.revision == revision
        };
        if let Some(made) = self.made.as_ref().filter(|made| fits(made)) {
            return Arc::clone(made);
        }
        self.times += 1;
        let made = Arc::new(self.make(situation, (registry, policy), who, family));
        self.made = Some(Arc::clone(&made));
        made
    }

    /// The same, only to see what it comes to.
    pub fn make(
        &self,
        situation: Situation,
        (registry, policy): (&Registry, &Policy),
        who: &Who<'_>,
        family: Family,
    ) -> Assembled {
        // Who can't use skills is not told of them.
        let skills = if registry.has(SKILL) { Arc::clone(&self.skills) } else { Arc::from([]) };
        let lines = lines(&skills, situation.rooms.of(Layer::Skills), family);
        let (tools, catalogue) = declare(registry, (policy, who), situation.rooms.plugged(), &lines, family);
        let has = |name: &str| tools.iter().any(|tool| tool.name == name) || catalogue.names().any(|one| one == name);
        let layers = self.layers(&situation, &has, family);
        let texts: Vec<&str> = layers.iter().map(|layer| layer.text.as_str()).collect();
        Assembled {
            situation,
            // Who an agent is never changes, so it tells nothing apart.
            who: Who { role: Who::ROOT, ..*who },
            family,
            revision: self.revision(),
            number: self.times,
            system: texts.join("\n\n").into(),
            tool_tokens: tools.iter().map(|tool| tool_tokens(tool, family)).sum(),
            tools,
            catalogue,
            skills,
            layers,
        }
    }

    /// Of all sources together.
    fn revision(&self) -> u64 {
        self.sources.iter().map(|source| source.revision()).sum()
    }

    fn layers(&self, situation: &Situation, has: &dyn Fn(&str) -> bool, family: Family) -> Vec<Told> {
        let mut layers: Vec<Told> = Vec::new();
        for source in &self.sources {
            let Some(text) = source.text_beside(situation, has).filter(|text| !text.trim().is_empty()) else {
                continue;
            };
            match layers.last_mut() {
                Some(last) if last.layer == source.layer() => {
                    last.text.push_str("\n\n");
                    last.text.push_str(&text);
                }
                Some(_) | None => {
                    layers.push(Told { layer: source.layer(), text, tokens: 0, notes: Vec::new() });
                }
            }
        }
        for layer in &mut layers {
            fit(layer, situation.rooms.of(layer.layer), family);
        }
        layers
    }
}

/// Counts a layer, and cuts it after a line when it is too long for its share. What stands between tags
/// stays between them.
fn fit(layer: &mut Told, room: u64, family: Family) {
    layer.tokens = estimate(&layer.text, family);
    if layer.tokens <= room {
        return;
    }
    let whole = layer.tokens;
    let note = format!("[The rest of {} is left out: about {whole} tokens, and {room} is its share.]", layer.layer);
    let room = room.saturating_sub(estimate(&note, family));
    let (mut kept, mut taken) = (0, 0);
    for line in layer.text.split_inclusive('\n') {
        taken += estimate(line, family);
        if taken > room {
            break;
        }
        kept += line.len();
    }
    let (kept, rest) = layer.text.split_at_checked(kept).unwrap_or(("", &layer.text));
    let closing: String = open_tags(kept, rest).iter().rev().map(|name| format!("\n</{name}>")).collect();
    let kept = kept.trim_end();
    layer.text = if kept.is_empty() { note.clone() } else { format!("{kept}{closing}\n{note}") };
    layer.tokens = estimate(&layer.text, family);
    layer.notes.push(note);
}

/// The names of the tags that are open where a text is cut, outermost first: each has a line of its own,
/// and one in the rest that closes it.
fn open_tags<'a>(kept: &'a str, rest: &str) -> Vec<&'a str> {
    let mut open: Vec<&str> = Vec::new();
    for line in kept.lines().map(str::trim_end).filter(|line| line.starts_with('<') && line.ends_with('>')) {
        if let Some(name) = line.strip_prefix("</").and_then(|line| line.strip_suffix('>')) {
            if let Some(at) = open.iter().rposition(|other| *other == name) {
                open.truncate(at);
            }
        } else if let Some(name) = line.get(1..).and_then(|line| line.split([' ', '>']).next()) {
            open.push(name);
        }
    }
    let closes = |name: &str| rest.lines().any(|line| line.trim_end() == format!("</{name}>"));
    open.retain(|name| !name.is_empty() && closes(name));
    open
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, room: u64) -> Told {
        let mut told = Told { layer: Layer::Rules, text: text.to_owned(), tokens: 0, notes: Vec::new() };
        fit(&mut told, room, Family::Other);
        told
    }

    #[test]
    fn a_layer_that_is_cut_closes_its_tags() {
        let rules = |file: &str, lines: usize| {
            format!("<rules file=\"{file}\">\n{}</rules>", "Use tabs and no <br>\n<p>\nin C.\n".repeat(lines))
        };
        let text = format!("{}\n\n{}", rules("a", 2), rules("b", 200));
        let told = cut(&text, 200);
        assert!(told.tokens <= 210 && told.notes.len() == 1, "{told:?}");
        assert_eq!((told.text.matches("<rules").count(), told.text.matches("</rules>").count()), (2, 2), "{told:?}");
        assert!(told.text.contains("</rules>\n[The rest of rules") && !told.text.contains("</p>"), "{told:?}");
        assert_eq!(cut(&rules("a", 2), 500).text, rules("a", 2));
    }
}
