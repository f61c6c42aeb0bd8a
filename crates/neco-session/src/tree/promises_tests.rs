//! Any sequence of operations keeps what is promised of a tree.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use neco_proto::event::{AgentNode, Down, Letter, NodeState, NodeType, SubtreeBudget, Up};
use neco_proto::{Actor, AgentId, AgentParameters, Usage};
use proptest::prelude::*;
use serde_json::json;

use super::agents::AgentTree;
use super::error::TreeError;
use super::op::{Change, NewNode, Op};
use super::promises::{BrokenPromise, check_shape, ensure};
use super::spec::{TreeLimits, most_children};

impl AgentTree {
    /// Whether everything holds that is promised of a tree; the words say what does not.
    pub(super) fn check(&self) -> Result<(), BrokenPromise> {
        check(&self.limits, self.root, &self.nodes)
    }
}

/// The first promise that is broken, if one is.
fn check(limits: &TreeLimits, root: AgentId, nodes: &BTreeMap<AgentId, Arc<AgentNode>>) -> Result<(), BrokenPromise> {
    check_shape(root, nodes)?;
    let live = nodes.values().filter(|node| node.id != root && node.state.is_live()).count();
    ensure(live <= limits.live, || format!("{live} agents are live"))?;
    nodes.values().try_for_each(|node| check_limits(limits, nodes, node))
}

fn check_limits(
    limits: &TreeLimits,
    nodes: &BTreeMap<AgentId, Arc<AgentNode>>,
    node: &AgentNode,
) -> Result<(), BrokenPromise> {
    let live = |child: &&AgentId| nodes.get(child).is_some_and(|child| child.state.is_live());
    let (id, children) = (node.id, node.children.iter().filter(live).count());
    ensure(most_children(node.kind, limits).is_none_or(|most| children <= most), || {
        format!("{id} has {children} live children")
    })?;
    ensure(depth(node, nodes) <= limits.depth, || format!("{id} is too deep"))
}

fn depth(node: &AgentNode, nodes: &BTreeMap<AgentId, Arc<AgentNode>>) -> usize {
    let parent = |node: &&AgentNode| node.parent.and_then(|parent| nodes.get(&parent)).map(Arc::as_ref);
    // A circle would go on for ever.
    std::iter::successors(Some(node), parent).take(nodes.len() + 1).count() - 1
}

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn new(kind: NodeType) -> NewNode {
    let (role, task) = ("coder".to_owned(), "do it".to_owned());
    let budget = SubtreeBudget::default();
    NewNode {
        id: AgentId::new(),
        name: "coder-1".to_owned(),
        kind,
        role,
        task,
        model_group: "balanced".to_owned(),
        budget,
    }
}

fn tree() -> AgentTree {
    AgentTree::new(TreeLimits::default(), new(NodeType::Root), NOW)
}

fn apply(tree: &mut AgentTree, op: Op) -> Result<Vec<Change>, TreeError> {
    let changes = tree.apply(NOW, op);
    tree.check().unwrap();
    changes
}

/// A running agent below `parent`.
fn running(tree: &mut AgentTree, parent: AgentId, kind: NodeType) -> AgentId {
    let node = new(kind);
    let id = node.id;
    apply(tree, Op::Spawn { parent, node }).unwrap();
    apply(tree, Op::Start(id)).unwrap();
    id
}

fn state(tree: &AgentTree, agent: AgentId) -> NodeState {
    tree.node(agent).unwrap().state
}

fn usage(input: u64) -> Usage {
    Usage { input, ..Usage::default() }
}

/// What a letter in `changes` says to `to`.
fn told(changes: &[Change], to: AgentId) -> Vec<&Letter> {
    let letter = |change: &'_ Change| match change {
        Change::Post(message) if message.to == to => Some(()),
        _ => None,
    };
    changes
        .iter()
        .filter(|change| letter(change).is_some())
        .filter_map(|change| match change {
            Change::Post(message) => Some(&message.letter),
            _ => None,
        })
        .collect()
}

#[test]
fn types_and_limits_are_refused_in_words_that_help() {
    let mut tree = tree();
    let root = tree.root();
    let leaf = running(&mut tree, root, NodeType::ActOnly);
    let spawn = |parent, kind| Op::Spawn { parent, node: new(kind) };
    let refused = apply(&mut tree, spawn(leaf, NodeType::ActOnly)).unwrap_err();
    assert!(refused.to_string().contains("do it yourself"), "{refused}");
    assert!(apply(&mut tree, spawn(root, NodeType::Root)).is_err());
    let mut deepest = root;
    for _ in 0..4 {
        deepest = running(&mut tree, deepest, NodeType::Child);
    }
    assert_eq!(apply(&mut tree, spawn(deepest, NodeType::Child)), Err(TreeError::TooDeep { most: 4 }));
    let parent = tree.node(root).unwrap().children[1];
    for _ in 0..9 {
        running(&mut tree, parent, NodeType::ActOnly);
    }
    assert_eq!(apply(&mut tree, spawn(parent, NodeType::ActOnly)), Err(TreeError::TooManyChildren { most: 10 }));
    for _ in 0..2 {
        running(&mut tree, root, NodeType::ActOnly);
    }
    let refused = apply(&mut tree, spawn(root, NodeType::Child)).unwrap_err();
    assert_eq!(refused, TreeError::TooManyLive { most: 16 });
    assert!(refused.to_string().contains("agent_wait"), "{refused}");
    apply(&mut tree, Op::Cancel(leaf)).unwrap();
    running(&mut tree, root, NodeType::Child);
}

#[test]
fn only_a_parent_and_its_own_child_talk_and_the_person_with_anybody() {
    let mut tree = tree();
    let root = tree.root();
    let (one, two) = (running(&mut tree, root, NodeType::Child), running(&mut tree, root, NodeType::Child));
    let below = running(&mut tree, one, NodeType::ActOnly);
    let redirect = || Down::Redirect { text: "left".to_owned() };
    let tell = |from, to| Op::Tell { from, to, letter: redirect() };
    for (from, to, allowed) in [
        (root, one, true),
        (one, below, true),
        (root, below, false),
        (two, one, false),
        (below, one, false),
        (one, one, false),
    ] {
        assert_eq!(apply(&mut tree, tell(Actor::Agent { id: from }, to)).is_ok(), allowed);
    }
    for to in [root, one, below] {
        assert!(apply(&mut tree, tell(Actor::Person, to)).is_ok());
    }
    let report = Op::Report { from: below, progress: 0.5, message: "half".to_owned() };
    let changes = apply(&mut tree, report).unwrap();
    assert!(matches!(told(&changes, one)[..], [Letter::Up(Up::Report { .. })]) && told(&changes, root).is_empty());
    let mad = Op::Report { from: below, progress: f64::NAN, message: String::new() };
    assert!(matches!(apply(&mut tree, mad), Err(TreeError::BadProgress(_))));
    assert_eq!(
        apply(&mut tree, Op::Report { from: root, progress: 0.1, message: String::new() }),
        Err(TreeError::NoParent)
    );
}

#[test]
fn cancelling_a_parent_stops_everybody_below_and_collapses_them() {
    let mut tree = tree();
    let root = tree.root();
    let parent = running(&mut tree, root, NodeType::Child);
    let child = running(&mut tree, parent, NodeType::Child);
    let leaf = running(&mut tree, child, NodeType::ActOnly);
    apply(&mut tree, Op::Use { agent: leaf, usage: usage(7) }).unwrap();
    let at_work = apply(&mut tree, Op::Complete { agent: parent, output: json!("done") }).unwrap_err();
    assert_eq!(at_work, TreeError::ChildrenAtWork(vec![child]));
    let changes = apply(&mut tree, Op::Cancel(parent)).unwrap();
    let stopped: Vec<AgentId> = changes
        .iter()
        .filter_map(|change| match change {
            Change::State { agent, to: NodeState::Cancelled, .. } => Some(*agent),
            _ => None,
        })
        .collect();
    assert_eq!(stopped, [leaf, child, parent], "from the leaves up");
    assert!(matches!(told(&changes, root)[..], [Letter::Up(Up::Stopped { .. })]));
    assert_eq!(changes.last(), Some(&Change::Collapsed { agent: parent, gone: vec![child, leaf] }));
    let node = tree.node(parent).unwrap();
    assert_eq!((node.collapsed, node.subtree_usage.input, node.usage.input, tree.node(leaf)), (2, 7, 0, None));
    // A call that was under way is still paid for.
    apply(&mut tree, Op::Use { agent: leaf, usage: usage(3) }).unwrap();
    assert_eq!(tree.node(root).unwrap().subtree_usage.input, 10);
}

#[test]
fn a_failure_is_told_and_siblings_go_on() {
    let mut tree = tree();
    let root = tree.root();
    let (bad, good) = (running(&mut tree, root, NodeType::Child), running(&mut tree, root, NodeType::Child));
    let message = "it fell silent".to_owned();
    let changes = apply(&mut tree, Op::Fail { agent: bad, code: None, message }).unwrap();
    assert!(matches!(told(&changes, root)[..], [Letter::Up(Up::Ended { .. })]));
    assert_eq!((state(&tree, bad), state(&tree, good)), (NodeState::Failed, NodeState::Running));
    let changes = apply(&mut tree, Op::Complete { agent: good, output: json!(1) }).unwrap();
    assert!(matches!(told(&changes, root)[..], [Letter::Up(Up::Ended { .. })]));
    assert!(matches!(apply(&mut tree, Op::Cancel(good)), Err(TreeError::WrongState { .. })));
    for op in [Op::Cancel(root), Op::Pause(root), Op::Complete { agent: root, output: json!(0) }] {
        assert!(matches!(apply(&mut tree, op), Err(TreeError::RootStays(_))));
    }
}

#[test]
fn a_pause_holds_for_everybody_below_and_resume_brings_back_exactly_those() {
    let mut tree = tree();
    let root = tree.root();
    let parent = running(&mut tree, root, NodeType::Child);
    let (one, two) = (running(&mut tree, parent, NodeType::ActOnly), running(&mut tree, parent, NodeType::ActOnly));
    apply(&mut tree, Op::Pause(one)).unwrap();
    apply(&mut tree, Op::Pause(parent)).unwrap();
    assert!([parent, one, two].iter().all(|agent| state(&tree, *agent) == NodeState::Paused));
    assert!(apply(&mut tree, Op::Resume(two)).is_err(), "it waits for its parent");
    apply(&mut tree, Op::Resume(parent)).unwrap();
    assert_eq!((state(&tree, one), state(&tree, two)), (NodeState::Paused, NodeState::Running));
    apply(&mut tree, Op::Pause(parent)).unwrap();
    apply(&mut tree, Op::Resume(one)).unwrap();
    assert_eq!(state(&tree, one), NodeState::Paused, "now it waits for its parent");
    apply(&mut tree, Op::Resume(parent)).unwrap();
    assert_eq!(state(&tree, one), NodeState::Running);
    let late = new(NodeType::ActOnly);
    let id = late.id;
    apply(&mut tree, Op::Spawn { parent, node: late }).unwrap();
    apply(&mut tree, Op::Pause(parent)).unwrap();
    apply(&mut tree, Op::Start(id)).unwrap();
    assert_eq!(state(&tree, id), NodeState::Paused);
}

#[test]
fn a_budget_binds_everybody_below_it() {
    let mut tree = tree();
    let root = tree.root();
    let parent = running(&mut tree, root, NodeType::Child);
    let budget = Some(SubtreeBudget { tokens: Some(100), cost: None });
    apply(
        &mut tree,
        Op::Update { agent: parent, parameters: AgentParameters { budget, ..AgentParameters::default() } },
    )
    .unwrap();
    let leaf = running(&mut tree, parent, NodeType::ActOnly);
    let spent = |changes: &[Change]| changes.iter().filter(|change| matches!(change, Change::Spent { .. })).count();
    assert_eq!(spent(&apply(&mut tree, Op::Use { agent: leaf, usage: usage(99) }).unwrap()), 0);
    assert_eq!(spent(&apply(&mut tree, Op::Use { agent: leaf, usage: usage(1) }).unwrap()), 1);
    assert_eq!(spent(&apply(&mut tree, Op::Use { agent: leaf, usage: usage(1) }).unwrap()), 0, "said once");
    let refused = apply(&mut tree, Op::Spawn { parent, node: new(NodeType::ActOnly) }).unwrap_err();
    assert!(matches!(refused, TreeError::BudgetUsedUp { agent, .. } if agent == parent), "{refused}");
    assert!(refused.to_string().contains("101.00 of 100.00 tokens"), "{refused}");
    running(&mut tree, root, NodeType::Child);
    let budget = Some(SubtreeBudget { tokens: Some(1000), cost: None });
    apply(
        &mut tree,
        Op::Update { agent: parent, parameters: AgentParameters { budget, ..AgentParameters::default() } },
    )
    .unwrap();
    running(&mut tree, parent, NodeType::ActOnly);
}

#[test]
fn after_a_crash_whoever_ran_is_paused_and_its_parent_told() {
    let mut tree = tree();
    let root = tree.root();
    let parent = running(&mut tree, root, NodeType::Child);
    let leaf = running(&mut tree, parent, NodeType::ActOnly);
    let mut again = AgentTree::restore(TreeLimits::default(), tree.iter().cloned(), BTreeMap::new()).unwrap();
    let changes = apply(&mut again, Op::Interrupt).unwrap();
    assert_eq!((state(&again, parent), state(&again, leaf)), (NodeState::Paused, NodeState::Paused));
    assert!(matches!(told(&changes, root)[..], [Letter::Up(Up::Stopped { .. })]));
    apply(&mut again, Op::Resume(parent)).unwrap();
    assert_eq!(state(&again, leaf), NodeState::Running);
    let orphan = tree.iter().filter(|node| node.id != parent).cloned();
    assert!(AgentTree::restore(TreeLimits::default(), orphan, BTreeMap::new()).is_err());
}

#[test]
fn who_is_started_over_begins_anew_without_those_below_it() {
    let mut tree = tree();
    let root = tree.root();
    let parent = running(&mut tree, root, NodeType::Child);
    let leaf = running(&mut tree, parent, NodeType::ActOnly);
    apply(&mut tree, Op::Use { agent: leaf, usage: usage(7) }).unwrap();
    apply(&mut tree, Op::Report { from: parent, progress: 0.5, message: "half".to_owned() }).unwrap();
    let changes = apply(&mut tree, Op::Retry(parent)).unwrap();
    let cancelled = Change::State { agent: leaf, from: NodeState::Running, to: NodeState::Cancelled };
    assert!(changes.contains(&cancelled) && changes.contains(&Change::Anew(parent)), "{changes:?}");
    let node = tree.node(parent).unwrap();
    assert_eq!((node.state, node.progress, node.last_message.clone()), (NodeState::Running, 0.0, None));
    assert_eq!((node.children.len(), node.subtree_usage.input), (0, 7), "what was used is used");
    assert!(tree.node(leaf).is_none());
    apply(&mut tree, Op::Fail { agent: parent, code: None, message: "no".to_owned() }).unwrap();
    apply(&mut tree, Op::Retry(parent)).unwrap();
    assert_eq!((state(&tree, parent), tree.node(parent).unwrap().result.clone()), (NodeState::Running, None));
    apply(&mut tree, Op::Complete { agent: parent, output: json!(1) }).unwrap();
    assert!(matches!(apply(&mut tree, Op::Retry(parent)), Err(TreeError::WrongState { .. })), "it has done its task");
    assert_eq!(apply(&mut tree, Op::Retry(root)), Err(TreeError::RootStays("started over")));
    let above = running(&mut tree, root, NodeType::Child);
    let below = running(&mut tree, above, NodeType::ActOnly);
    apply(&mut tree, Op::Pause(above)).unwrap();
    apply(&mut tree, Op::Retry(below)).unwrap();
    assert_eq!(state(&tree, below), NodeState::Paused, "it waits with whom it works for");
    apply(&mut tree, Op::Resume(above)).unwrap();
    assert_eq!(state(&tree, below), NodeState::Running);
}

/// An operation on the agents that were made so far, by number.
#[derive(Clone, Debug)]
enum Step {
    Spawn(usize, NodeType, Option<u64>),
    Start(usize),
    Pause(usize),
    Resume(usize),
    Use(usize, u64),
    Complete(usize),
    Fail(usize),
    Cancel(usize),
    Retry(usize),
    Budget(usize, Option<u64>),
    Report(usize, f64),
    Tell(usize, usize),
    Interrupt,
}

fn step() -> impl Strategy<Value = Step> {
    let agent = 0usize..40;
    let kind = prop_oneof![4 => Just(NodeType::Child), 2 => Just(NodeType::ActOnly), 1 => Just(NodeType::Root)];
    prop_oneof![
        8 => (agent.clone(), kind, proptest::option::of(1u64..500)).prop_map(|(parent, kind, budget)| Step::Spawn(parent, kind, budget)),
        8 => agent.clone().prop_map(Step::Start),
        3 => agent.clone().prop_map(Step::Pause),
        3 => agent.clone().prop_map(Step::Resume),
        6 => (agent.clone(), 0u64..100).prop_map(|(agent, tokens)| Step::Use(agent, tokens)),
        4 => agent.clone().prop_map(Step::Complete),
        2 => agent.clone().prop_map(Step::Fail),
        2 => agent.clone().prop_map(Step::Cancel),
        2 => agent.clone().prop_map(Step::Retry),
        1 => (agent.clone(), proptest::option::of(1u64..1000)).prop_map(|(agent, budget)| Step::Budget(agent, budget)),
        2 => (agent.clone(), -0.5f64..1.5).prop_map(|(agent, progress)| Step::Report(agent, progress)),
        2 => (agent.clone(), agent).prop_map(|(from, to)| Step::Tell(from, to)),
        1 => Just(Step::Interrupt),
    ]
}

fn op(step: &Step, agents: &mut Vec<AgentId>) -> Op {
    let known = agents.clone();
    let at = |number: usize| known[number % known.len()];
    let tokens = |tokens: Option<u64>| SubtreeBudget { tokens, cost: None };
    match step {
        Step::Spawn(parent, kind, budget) => {
            let node = NewNode { budget: tokens(*budget), ..new(*kind) };
            agents.push(node.id);
            Op::Spawn { parent: at(*parent), node }
        }
        Step::Start(agent) => Op::Start(at(*agent)),
        Step::Pause(agent) => Op::Pause(at(*agent)),
        Step::Resume(agent) => Op::Resume(at(*agent)),
        Step::Use(agent, tokens) => Op::Use { agent: at(*agent), usage: usage(*tokens) },
        Step::Complete(agent) => Op::Complete { agent: at(*agent), output: json!("x") },
        Step::Fail(agent) => Op::Fail { agent: at(*agent), code: None, message: "x".to_owned() },
        Step::Cancel(agent) => Op::Cancel(at(*agent)),
        Step::Retry(agent) => Op::Retry(at(*agent)),
        Step::Budget(agent, budget) => {
            let parameters = AgentParameters { budget: Some(tokens(*budget)), ..AgentParameters::default() };
            Op::Update { agent: at(*agent), parameters }
        }
        Step::Report(agent, progress) => Op::Report { from: at(*agent), progress: *progress, message: "x".to_owned() },
        Step::Tell(from, to) => {
            let letter = Down::Answer { text: "x".to_owned() };
            Op::Tell { from: Actor::Agent { id: at(*from) }, to: at(*to), letter }
        }
        Step::Interrupt => Op::Interrupt,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_operations_keep_every_promise(steps in proptest::collection::vec(step(), 1..160)) {
        let mut tree = tree();
        let mut agents = vec![tree.root()];
        let mut used = 0;
        let mut ended: BTreeMap<AgentId, usize> = BTreeMap::new();
        for step in &steps {
            let op = op(step, &mut agents);
            let before: Vec<_> = tree.iter().cloned().collect();
            match tree.apply(NOW, op.clone()) {
                Ok(changes) => {
                    if let Op::Use { usage, .. } = op {
                        used += usage.input;
                    }
                    for change in &changes {
                        match change {
                            Change::State { agent, from, to } => {
                                prop_assert!(from.is_live(), "{from:?} is an end");
                                if !to.is_live() {
                                    *ended.entry(*agent).or_default() += 1;
                                }
                            }
                            Change::Post(message) => prop_assert!(tree.node(message.to).is_some(), "a letter to nobody"),
                            Change::Collapsed { gone, .. } => {
                                prop_assert!(gone.iter().all(|agent| ended.contains_key(agent)), "a live one is gone");
                            }
                            // Who begins anew can end again.
                            Change::Anew(agent) => drop(ended.remove(agent)),
                            Change::Added(_) | Change::Known(_) | Change::Parameters { .. } | Change::Spent { .. } => {}
                        }
                    }
                }
                Err(error) => {
                    prop_assert!(!error.to_string().is_empty());
                    prop_assert_eq!(before, tree.iter().cloned().collect::<Vec<_>>(), "a refusal changed something");
                }
            }
            if let Err(broken) = tree.check() {
                return Err(TestCaseError::fail(format!("{broken} after {step:?}")));
            }
        }
        prop_assert!(ended.values().all(|times| *times == 1), "somebody ended twice");
        prop_assert_eq!(tree.node(tree.root()).unwrap().subtree_usage.input, used);
        let again = AgentTree::restore(TreeLimits::default(), tree.iter().cloned(), tree.gone().clone());
        prop_assert!(again.is_ok(), "{:?}", again.err());
    }
}
