//! Wherever a crash cuts the log off, even in the middle of an operation, everybody who is not ended comes back.

use std::collections::BTreeMap;

use jiff::Timestamp;
use neco_proto::event::{AgentNode, NodeState, NodeType, SessionStart, SubtreeBudget};
use neco_proto::{AgentId, ApprovalMode, Event, EventBody, Mode, SessionId};
use proptest::prelude::*;
use serde_json::json;

use super::agents::AgentTree;
use super::carry;
use super::history::TreeHistory;
use super::op::{NewNode, Op};
use super::spec::TreeLimits;

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

/// Limits that nobody would fit in: they bind whoever is new, and nobody who is there.
const NONE: TreeLimits = TreeLimits { depth: 0, live: 0, children: 0 };

#[derive(Clone, Debug)]
enum Step {
    Spawn(usize),
    Start(usize),
    Pause(usize),
    Resume(usize),
    Complete(usize),
    Fail(usize),
    Cancel(usize),
    Interrupt,
}

fn step() -> impl Strategy<Value = Step> {
    let agent = 0usize..30;
    prop_oneof![
        6 => agent.clone().prop_map(Step::Spawn),
        6 => agent.clone().prop_map(Step::Start),
        3 => agent.clone().prop_map(Step::Pause),
        3 => agent.clone().prop_map(Step::Resume),
        2 => agent.clone().prop_map(Step::Complete),
        2 => agent.clone().prop_map(Step::Fail),
        2 => agent.prop_map(Step::Cancel),
        1 => Just(Step::Interrupt),
    ]
}

fn op(step: &Step, agents: &mut Vec<AgentId>) -> Op {
    let known = agents.clone();
    let at = |number: &usize| known[number % known.len()];
    match step {
        Step::Spawn(parent) => {
            let id = AgentId::new();
            agents.push(id);
            let root = NewNode::root(id, "balanced", SubtreeBudget::default());
            Op::Spawn { parent: at(parent), node: NewNode { kind: NodeType::Child, ..root } }
        }
        Step::Start(agent) => Op::Start(at(agent)),
        Step::Pause(agent) => Op::Pause(at(agent)),
        Step::Resume(agent) => Op::Resume(at(agent)),
        Step::Complete(agent) => Op::Complete { agent: at(agent), output: json!("x") },
        Step::Fail(agent) => Op::Fail { agent: at(agent), code: None, message: "x".to_owned() },
        Step::Cancel(agent) => Op::Cancel(at(agent)),
        Step::Interrupt => Op::Interrupt,
    }
}

pub(super) fn event(agent_id: AgentId, body: EventBody) -> Event {
    Event::new(1, NOW, SessionId::new(), agent_id, None, body)
}

/// What the log of a session begins with.
pub(super) fn begun(root: AgentId) -> TreeHistory {
    let start = SessionStart {
        version: String::new(),
        cwd: String::new(),
        model: String::new(),
        scripted: true,
        mode: Mode::default(),
        approval: ApprovalMode::default(),
        generation: 0,
        sandbox: String::new(),
        usual_sandbox: false,
        resumed: false,
        single: false,
        forked_from: None,
    };
    let mut history = TreeHistory::default();
    history.apply(&event(root, EventBody::SessionStart(start)));
    history
}

/// Those that the log does not let end: live, and below nobody who has ended.
fn left(history: &TreeHistory) -> Vec<AgentId> {
    let all: BTreeMap<AgentId, AgentNode> = history.all().into_iter().map(|node| (node.id, node)).collect();
    let line = |id: AgentId| std::iter::successors(all.get(&id), |node| all.get(&node.parent?));
    let lives = |id: &AgentId| line(*id).all(|node| node.state.is_live()) && !history.gone().contains_key(id);
    all.keys().copied().filter(lives).collect()
}

fn restored(history: &TreeHistory, root: AgentId) -> (AgentTree, Vec<neco_proto::event::AgentUpdate>) {
    history.tree(NONE, root, "", SubtreeBudget::default())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_log_that_is_cut_anywhere_loses_nobody(steps in proptest::collection::vec(step(), 1..80)) {
        let root = AgentId::new();
        let limits = TreeLimits { depth: 6, live: 60, children: 60 };
        let mut tree = AgentTree::new(limits, NewNode::root(root, "", SubtreeBudget::default()), NOW);
        let (mut agents, mut history) = (vec![root], begun(root));
        for step in &steps {
            let (op, before) = (op(step, &mut agents), tree.clone());
            let Ok(changes) = tree.apply(NOW, op) else { continue };
            for (agent, body) in carry::events(&before, &tree, &changes, &BTreeMap::new(), NOW) {
                history.apply(&event(agent, body));
                let (again, mended) = restored(&history, root);
                for agent in left(&history) {
                    let lives = again.node(agent).is_some_and(|node| node.state.is_live());
                    prop_assert!(lives, "{agent} is lost when {step:?} is cut off");
                }
                prop_assert!(again.clone().apply(NOW, Op::Interrupt).is_ok());
                // What is mended is mended for good.
                let mut told = history.clone();
                mended.into_iter().for_each(|update| told.apply(&event(update.node.id, EventBody::AgentUpdate(update))));
                let (same, more) = restored(&told, root);
                prop_assert!(more.is_empty(), "{more:?}");
                let states = |tree: &AgentTree| tree.iter().map(|node| (node.id, node.state)).collect::<Vec<_>>();
                prop_assert_eq!(states(&same), states(&again));
                prop_assert!(told.all().iter().all(|node| node.state == NodeState::Created || left(&told).contains(&node.id) || !node.state.is_live()));
            }
        }
    }
}

#[test]
fn of_a_thousand_finished_ones_only_the_newest_stay() {
    let root = AgentId::new();
    let mut tree = AgentTree::new(TreeLimits::default(), NewNode::root(root, "", SubtreeBudget::default()), NOW);
    let mut last = root;
    for _ in 0..1000 {
        last = AgentId::new();
        let node = NewNode { kind: NodeType::ActOnly, ..NewNode::root(last, "act", SubtreeBudget::default()) };
        tree.apply(NOW, Op::Spawn { parent: root, node }).unwrap();
        tree.apply(NOW, Op::Start(last)).unwrap();
        let usage = neco_proto::Usage { input: 1, ..neco_proto::Usage::default() };
        tree.apply(NOW, Op::Use { agent: last, usage }).unwrap();
        tree.apply(NOW, Op::Complete { agent: last, output: json!("x") }).unwrap();
    }
    tree.check().unwrap();
    assert!(tree.iter().count() <= 129, "{} nodes", tree.iter().count());
    assert_eq!(tree.node(last).unwrap().state, NodeState::Completed);
    let node = tree.node(root).unwrap();
    assert_eq!((node.subtree_usage.input, node.collapsed + node.children.len()), (1000, 1000));
}
