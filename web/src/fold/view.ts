//! What the fold adds up to: all that a person sees of a session. It is changed in place, and each slice counts its
//! changes, so that whoever draws one knows whether it is another by now.

import type {
  AgentNode,
  AgentState,
  ApprovalMode,
  CheckpointWhen,
  Mode,
  NodeState,
  Payload,
  Plan,
  SidePurpose,
  Todo,
  Usage,
  WorkflowGraph,
} from "../proto";
import type { Block, BlockBody, BlockOf, Context } from "./block";
import type { Rewinds } from "./rewinds";
import type { Run } from "./runs";
import { noUsage } from "./usage";

/** Parts of a view that are drawn by themselves. `blocks` counts those that come, go
 * and end, not what changes in one. */
export type Slice = "blocks" | "standing" | "asked" | "said" | "todo" | "agents" | "workflows" | "changes" | "runs";

export type Doing =
  | { kind: "thinks" }
  | { kind: "calls"; summary: string }
  | { kind: "wants"; summary: string }
  | { kind: "asks" };

export type Lane = "works" | "waits" | "asks" | "ended";

/** How a call stands, or how it ended; `off` is one that was not run to its end. */
export type CallIs = "waits" | "asks" | "runs" | "done" | "failed" | "off";

/** A call of an agent, in short: when it began, what it does, how it stands. */
export type Deed = { at_ms: number; summary: string; is: CallIs };

/** What an agent does, asks and did. */
export type Activity = {
  does?: Doing;
  asks: { id: string; since_ms: number }[];
  lanes: [since_ms: number, lane: Lane][];
  /** Its last calls, and those that go on by their ids. */
  deeds: Deed[];
  open: Map<string, Deed>;
  state?: NodeState;
  model?: string;
};

export type Agent = { depth: number; node: AgentNode };

export type WaitsFor = { kind: "model"; name: string } | { kind: "arguments"; tool: string };

/** How the session stands. */
export type Standing = {
  session_id: string;
  cwd: string;
  model: string;
  answers?: string;
  mode: Mode;
  approval: ApprovalMode;
  generation: number;
  state: AgentState;
  since_ms?: number;
  iteration: number;
  compacting: boolean;
  going_back?: { since_ms: number; files?: [number, number] };
  usage: Usage;
  aside: Usage;
  asks_aside?: SidePurpose;
  context?: Context;
  sandbox: string;
};

/** A change of a file that an edit made, whoever made it. */
export type Edit = { seq: number; path: string; added: number; removed: number; created: boolean; deleted: boolean };

/** A state of the workspace that was kept. */
export type Kept = { rev: string; at_ms: number; when: CheckpointWhen; label: string; changed: number };

export type View = {
  blocks: Block[];
  standing: Standing;
  waits_for?: WaitsFor;
  title?: string;
  todos: Todo[];
  plan?: Plan;
  findings: string[];
  agents: Agent[];
  activity: Record<string, Activity>;
  workflows: WorkflowGraph[];
  over: boolean;
  /** How often each slice has changed. */
  revs: Record<Slice, number>;
  edits: Edit[];
  /** What the root used itself. */
  own: Usage;
  /** Commands of all agents by their calls, in the order in which they began. */
  runs: Map<string, Run>;
  /** The command lines of calls that have not ended. */
  commands: Map<string, string>;
  /** How often the root's model was asked, and the messages that came since it was asked last. */
  turns: number;
  since_turn: Set<string>;
  checkpoints: Kept[];
  /** The last event, and when it happened. */
  seq: number;
  at_ms: number;
  /** Events of types that are not known here. */
  unknown: number;
  root?: string;
  last_id: number;
  /** Calls that go on, and by their ids what was asked and said last: nobody looks through all blocks. */
  open: Map<string, BlockOf<"call">>;
  approvals: Map<string, BlockOf<"approval">>;
  questions: Map<string, BlockOf<"question">>;
  messages: Map<string, BlockOf<"message">>;
  /** Of calls that were made together, which of how many each is. */
  together: Map<string, [at: number, all: number]>;
  writing?: BlockOf<"answer" | "thinking">;
  before_turn: number;
  streamed: boolean;
  idle: Idle;
  work: Work;
  counting: Counting;
  in_calls: Set<string>;
  in_workflow: boolean;
};

/** Whether the session has come to rest. */
export type Idle = {
  done?: boolean;
  working: Set<string>;
  stopped: boolean;
  letters: Set<string>;
};

/** What the work adds up to. */
export type Work = {
  change_seen: Set<string>;
  background: Set<string>;
  left: { name: string; summary: string }[];
  refused: string[];
  models: string[];
  below: Usage;
  so_far?: { complete: Payload<"agent_complete">; dropped: boolean };
  began_ms?: number;
  over: boolean;
};

/** Which of what was said counts. */
export type Counting = {
  said: { seq: number; id: string; words: string }[];
  rewinds: Rewinds;
  files: Rewinds;
  undos: Set<number>;
};

export function emptyView(): View {
  return {
    blocks: [],
    standing: {
      session_id: "",
      cwd: "",
      model: "",
      mode: "agent",
      approval: "ask_first",
      generation: 0,
      state: "idle",
      iteration: 0,
      compacting: false,
      usage: noUsage(),
      aside: noUsage(),
      sandbox: "",
    },
    todos: [],
    findings: [],
    agents: [],
    activity: {},
    workflows: [],
    over: false,
    revs: { blocks: 0, standing: 0, asked: 0, said: 0, todo: 0, agents: 0, workflows: 0, changes: 0, runs: 0 },
    edits: [],
    own: noUsage(),
    runs: new Map(),
    commands: new Map(),
    turns: 0,
    since_turn: new Set(),
    checkpoints: [],
    seq: 0,
    at_ms: 0,
    unknown: 0,
    last_id: 0,
    open: new Map(),
    approvals: new Map(),
    questions: new Map(),
    messages: new Map(),
    together: new Map(),
    before_turn: 0,
    streamed: false,
    idle: { working: new Set(), stopped: false, letters: new Set() },
    work: {
      change_seen: new Set(),
      background: new Set(),
      left: [],
      refused: [],
      models: [],
      below: noUsage(),
      over: false,
    },
    counting: { said: [], rewinds: [], files: [], undos: new Set() },
    in_calls: new Set(),
    in_workflow: false,
  };
}

/** A slice stands otherwise. */
export function touch(view: View, slice: Slice): void {
  view.revs[slice] += 1;
}

/** Adds a block at the end. */
export function add<B extends BlockBody>(view: View, body: B): Block & { kind: B["kind"] } {
  view.last_id += 1;
  const block = { id: view.last_id, seq: view.seq, at_ms: view.at_ms, rev: 0, ...body } as Block & { kind: B["kind"] };
  view.blocks.push(block);
  touch(view, "blocks");
  return block;
}
