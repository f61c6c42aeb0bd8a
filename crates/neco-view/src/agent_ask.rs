//! What a person asks of the agents of a session, by their names: one reading and one set of words for every
//! window.

use neco_proto::clean::clean_line;
use neco_proto::event::{AgentNode, NodeState, SubtreeBudget};
use neco_proto::{AgentOrder, AgentParameters};

/// The fewest characters of an id that stand for it.
const SHORTEST_ID: usize = 4;

/// Everything that can be asked, for the help and the completion.
pub const VERBS: &[&str] = &["status", "tell", "redirect", "answer", "pause", "resume", "cancel", "retry", "set"];

/// The same, each with what it means.
pub const DESCRIBED: &[(&str, &str)] = &[
    ("status", "what it does, how far it is, what came of it"),
    ("tell", "a message that it reads at its next turn"),
    ("redirect", "stop, and do this instead"),
    ("answer", "the answer to what it asks"),
    ("pause", "stops it; resume goes on where it was"),
    ("resume", "one that is paused goes on"),
    ("cancel", "ends it for good"),
    ("retry", "its first task anew, without the agents below it"),
    ("set", "another model, budget or tools"),
];

/// What a person asks of an agent.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentAsk {
    /// How it stands: what it does, how far it is, what came of it; of all when none is named.
    Status {
        /// Its name or the beginning of its id.
        agent: Option<String>,
    },
    /// That it does something.
    Order {
        /// Its name or the beginning of its id.
        agent: String,
        /// What it is to do.
        order: AgentOrder,
    },
}

/// Why nothing can be asked of an agent so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AgentAskError {
    /// There is no verb.
    #[error("write one of {}, then the agent's name", VERBS.join(", "))]
    NoVerb,
    /// There is no such verb, but one that begins so.
    #[error("an agent can't be asked to {verb}; did you mean {near}?")]
    Misspelt {
        /// What was written.
        verb: String,
        /// What may be meant.
        near: &'static str,
    },
    /// Something is missing behind the verb; this is how it is written.
    #[error("{0}")]
    Usage(&'static str),
    /// Something follows that has no place there; this is how it is written.
    #[error("nothing may follow the name: {0}")]
    TooMuch(&'static str),
    /// A parameter has no value.
    #[error("{0}: write NAME=VALUE, of model, tokens, cost and tools")]
    NoPair(String),
    /// There is no such parameter.
    #[error("{0} can't be set; model, tokens, cost and tools can")]
    NotSettable(String),
    /// That is no count.
    #[error("tokens is a whole number")]
    NoTokens,
    /// That is no amount.
    #[error("cost is an amount in US dollars")]
    NoCost,
    /// There is no such agent.
    #[error("there is no agent {wanted}{}", but(running))]
    Nobody {
        /// The name or id.
        wanted: String,
        /// Who is running.
        running: Vec<String>,
    },
    /// More than one agent may be meant.
    #[error("several agents have ids that begin with {0}; give more of it")]
    Several(String),
}

impl AgentAsk {
    /// What is written behind `/agents` or `neco agents`: a verb, a name, and the rest.
    ///
    /// # Errors
    /// When that makes no sense.
    pub fn parse(text: &str) -> Result<Self, AgentAskError> {
        let (verb, rest) = word(text);
        let (agent, rest) = word(rest);
        if matches!(verb, "status" | "show") {
            return Ok(Self::Status { agent: (!agent.is_empty()).then(|| agent.to_owned()) });
        }
        let known = verb_of(verb).ok_or_else(|| unknown(verb))?;
        if agent.is_empty() {
            return Err(AgentAskError::Usage(usage(known)));
        }
        let order = order(known, rest)?;
        Ok(Self::Order { agent: agent.to_owned(), order })
    }
}

/// The agent that a person means: by its name, or by the beginning of its id.
///
/// # Errors
/// When there is none, or more than one.
pub fn find<'a>(nodes: &'a [AgentNode], wanted: &str) -> Result<&'a AgentNode, AgentAskError> {
    if let Some(node) = nodes.iter().find(|node| node.name.eq_ignore_ascii_case(wanted)) {
        return Ok(node);
    }
    let begins = |node: &&AgentNode| wanted.len() >= SHORTEST_ID && node.id.to_string().starts_with(wanted);
    let found: Vec<&AgentNode> = nodes.iter().filter(begins).collect();
    match found.as_slice() {
        [node] => Ok(node),
        [] => Err(nobody(nodes, wanted)),
        [_, _, ..] => Err(AgentAskError::Several(clean_line(wanted))),
    }
}

/// What is said when an agent has taken an order; `lead` is what stands before orders where it was given.
pub fn taken(node: &AgentNode, order: &AgentOrder, lead: &str) -> String {
    let name = clean_line(&node.name);
    let below = match node.children.is_empty() {
        true => "",
        false => ", with all agents below it",
    };
    let when = match node.state {
        NodeState::Paused => "when it is resumed",
        NodeState::Created | NodeState::Running | NodeState::Completed | NodeState::Failed | NodeState::Cancelled => {
            "at its next turn"
        }
    };
    match order {
        AgentOrder::Task { .. } => format!("{name} gets it after what it is doing now"),
        AgentOrder::Redirect { .. } => format!("{name} reads it {when}"),
        AgentOrder::Answer { .. } => format!("{name} has the answer"),
        AgentOrder::Pause => format!("{name}{below} is paused; `{lead} resume {name}` resumes it"),
        AgentOrder::Resume => format!("{name} is resumed"),
        AgentOrder::Cancel => format!("{name}{below} was stopped, with everything it ran"),
        AgentOrder::Retry => format!("{name} begins its task anew; all agents below it were stopped"),
        AgentOrder::UpdateParameters(_) => format!("{name}: in effect from its next turn"),
    }
}

/// Agents that still work, counted for a person who stopped something; nothing when none does.
pub fn still_work(agents: usize) -> Option<String> {
    match agents {
        0 => None,
        1 => Some("1 agent is still working".to_owned()),
        many => Some(format!("{many} agents are still working")),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verb {
    Tell,
    Redirect,
    Answer,
    Pause,
    Resume,
    Cancel,
    Retry,
    Set,
}

fn verb_of(text: &str) -> Option<Verb> {
    Some(match text {
        "tell" | "task" => Verb::Tell,
        "redirect" | "steer" => Verb::Redirect,
        "answer" => Verb::Answer,
        "pause" => Verb::Pause,
        "resume" => Verb::Resume,
        "cancel" | "stop" => Verb::Cancel,
        "retry" | "restart" => Verb::Retry,
        "set" | "update" => Verb::Set,
        _ => return None,
    })
}

fn order(verb: Verb, rest: &str) -> Result<AgentOrder, AgentAskError> {
    let text = || match rest.is_empty() {
        true => Err(AgentAskError::Usage(usage(verb))),
        false => Ok(rest.to_owned()),
    };
    Ok(match verb {
        Verb::Tell => AgentOrder::Task { text: text()? },
        Verb::Redirect => AgentOrder::Redirect { text: text()? },
        Verb::Answer => AgentOrder::Answer { text: text()? },
        Verb::Set => AgentOrder::UpdateParameters(parameters(&text()?)?),
        Verb::Pause | Verb::Resume | Verb::Cancel | Verb::Retry if !rest.is_empty() => {
            return Err(AgentAskError::TooMuch(usage(verb)));
        }
        Verb::Pause => AgentOrder::Pause,
        Verb::Resume => AgentOrder::Resume,
        Verb::Cancel => AgentOrder::Cancel,
        Verb::Retry => AgentOrder::Retry,
    })
}

/// `model=fast tokens=20000 cost=0.5 tools=read_file,grep`
fn parameters(text: &str) -> Result<AgentParameters, AgentAskError> {
    let mut parameters = AgentParameters::default();
    let mut budget = SubtreeBudget::default();
    for part in text.split_whitespace() {
        let (name, value) = part
            .split_once('=')
            .filter(|(_, value)| !value.is_empty())
            .ok_or_else(|| AgentAskError::NoPair(clean_line(part)))?;
        match name {
            "model" => parameters.model_group = Some(value.to_owned()),
            "tokens" => budget.tokens = Some(value.parse().map_err(|_| AgentAskError::NoTokens)?),
            "cost" => budget.cost = Some(dollars(value)?),
            "tools" => parameters.tools = Some(value.split(',').map(|tool| tool.trim().to_owned()).collect()),
            _ => return Err(AgentAskError::NotSettable(clean_line(name))),
        }
    }
    parameters.budget = (budget != SubtreeBudget::default()).then_some(budget);
    Ok(parameters)
}

fn dollars(value: &str) -> Result<f64, AgentAskError> {
    let number: Option<f64> = value.trim_start_matches('$').parse().ok();
    number.filter(|amount| amount.is_finite() && *amount > 0.0).ok_or(AgentAskError::NoCost)
}

fn usage(verb: Verb) -> &'static str {
    match verb {
        Verb::Tell => "tell AGENT TEXT: something more to do, after what it does now",
        Verb::Redirect => "redirect AGENT TEXT: a correction, which it sees at its next turn",
        Verb::Answer => "answer AGENT TEXT: the answer to its question",
        Verb::Pause => "pause AGENT: pauses it and all agents below it",
        Verb::Resume => "resume AGENT: resumes it",
        Verb::Cancel => "cancel AGENT: stops it and all agents below it, with every process they started",
        Verb::Retry => "retry AGENT: starts its first task anew, without the agents below it; also one that failed",
        Verb::Set => "set AGENT model=NAME tokens=COUNT cost=USD tools=A,B: changes these from its next turn on",
    }
}

fn unknown(verb: &str) -> AgentAskError {
    let near = VERBS.iter().find(|known| !verb.is_empty() && known.starts_with(verb));
    match near {
        Some(near) => AgentAskError::Misspelt { verb: clean_line(verb), near },
        None => AgentAskError::NoVerb,
    }
}

fn nobody(nodes: &[AgentNode], wanted: &str) -> AgentAskError {
    let running = nodes.iter().filter(|node| node.state.is_live()).map(|node| clean_line(&node.name)).collect();
    AgentAskError::Nobody { wanted: clean_line(wanted), running }
}

fn but(running: &[String]) -> String {
    match running {
        [] => String::new(),
        [root] => format!("; only {root} is running"),
        [_, _, ..] => format!("; running are {}", running.join(", ")),
    }
}

/// The first word, and what follows it.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim();
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (first, rest.trim())
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use neco_proto::event::NodeType;
    use neco_proto::{AgentId, Usage};

    use super::*;

    fn asked(text: &str) -> AgentOrder {
        match AgentAsk::parse(text) {
            Ok(AgentAsk::Order { agent, order }) if agent == "explore-1" => order,
            other => panic!("{text}: {other:?}"),
        }
    }

    fn node(name: &str) -> AgentNode {
        AgentNode {
            id: AgentId::new(),
            name: name.to_owned(),
            kind: NodeType::Child,
            role: String::new(),
            parent: None,
            children: Vec::new(),
            collapsed: 0,
            task: String::new(),
            model_group: String::new(),
            state: NodeState::Running,
            paused_by: None,
            progress: 0.0,
            last_message: None,
            usage: Usage::default(),
            subtree_usage: Usage::default(),
            budget: SubtreeBudget::default(),
            created: Timestamp::UNIX_EPOCH,
            changed: Timestamp::UNIX_EPOCH,
            result: None,
        }
    }

    #[test]
    fn everything_that_can_be_done_to_an_agent_can_be_written() {
        let text = || "only  in src".to_owned();
        assert_eq!(asked("tell explore-1 only  in src"), AgentOrder::Task { text: text() });
        assert_eq!(asked(" redirect  explore-1  only  in src "), AgentOrder::Redirect { text: text() });
        assert_eq!(asked("answer explore-1 only  in src"), AgentOrder::Answer { text: text() });
        assert_eq!(asked("pause explore-1"), AgentOrder::Pause);
        assert_eq!(asked("resume explore-1"), AgentOrder::Resume);
        assert_eq!(asked("cancel explore-1"), AgentOrder::Cancel);
        assert_eq!(asked("retry explore-1"), AgentOrder::Retry);
        let set = AgentParameters {
            model_group: Some("fast".to_owned()),
            budget: Some(SubtreeBudget { tokens: Some(20_000), cost: Some(0.5) }),
            tools: Some(vec!["read_file".to_owned(), "grep".to_owned()]),
        };
        let written = "set explore-1 model=fast tokens=20000 cost=$0.5 tools=read_file,grep";
        assert_eq!(asked(written), AgentOrder::UpdateParameters(set));
        assert_eq!(AgentAsk::parse("status"), Ok(AgentAsk::Status { agent: None }));
        assert!(DESCRIBED.iter().map(|(verb, _)| verb).eq(VERBS));
        for verb in VERBS {
            assert!(verb_of(verb).is_some() || *verb == "status", "{verb}");
        }
    }

    #[test]
    fn what_makes_no_sense_says_what_would() {
        for (text, words) in [
            ("", "write one of"),
            ("pau explore-1", "did you mean pause"),
            ("tell", "tell AGENT TEXT"),
            ("tell explore-1", "tell AGENT TEXT"),
            ("pause explore-1 now", "nothing may follow"),
            ("set explore-1 colour=red", "colour can't be set"),
            ("set explore-1 cost=-1", "US dollars"),
            ("set explore-1 tokens=many", "whole number"),
            ("set explore-1 model", "NAME=VALUE"),
        ] {
            let said = AgentAsk::parse(text).unwrap_err().to_string();
            assert!(said.contains(words), "{text}: {said}");
        }
    }

    #[test]
    fn an_agent_is_meant_by_its_name_or_its_id() {
        let nodes = [node("root"), node("explore-1"), node("coder-1")];
        assert_eq!(find(&nodes, "Explore-1").unwrap().id, nodes[1].id);
        let id = nodes[2].id.to_string();
        assert_eq!(find(&nodes, &id).unwrap().name, "coder-1");
        assert_eq!(
            find(&nodes, "coder-9").unwrap_err().to_string(),
            "there is no agent coder-9; running are root, explore-1, coder-1"
        );
        assert!(find(&nodes, "0").is_err(), "too short to mean anybody");
    }
}
