//! The blocks that a person sees, as data: the shape of docs/view.md. A kind with the name of an event holds what that
//! event holds.

import type {
  Admission,
  AgentNode,
  BudgetReached,
  CallStatus,
  CompleteReason,
  Decision,
  Json,
  Letter,
  Payload,
  PermissionRequest,
  Plan,
  Question,
  Reply,
  Todo,
  Usage,
  WorkflowState,
  WorkflowTask,
} from "../proto";

/** Kinds of blocks that hold what the event of their name holds. */
export const PLAIN = [
  "session_start",
  "notification",
  "model_retry",
  "model_switch",
  "mode_change",
  "hook_run",
  "rules_told",
  "skill_used",
  "pieces_given",
  "compaction",
  "imported",
  "error",
  "stop",
] as const;

export type PlainKind = (typeof PLAIN)[number];

type PlainBody = { [K in PlainKind]: { kind: K; data: Payload<K> } }[PlainKind];

/** What a person said. */
export type Said = { message_id: string; text: string; pictures?: number; waits?: Admission; read?: number };

/** Words of the model, in the pieces in which they came. */
export type Written = { pieces: string[]; over: boolean };

/** A call, from its first letter to its end. */
export type Call = {
  call_id: string;
  tool: string;
  summary: string;
  arguments?: Json;
  written: number;
  status: CallStatus;
  started_ms?: number;
  background?: boolean;
  change_seen?: boolean;
  unanswered?: boolean;
  printed: string;
  end?: Omit<Payload<"tool_call_end">, "known">;
};

export type Approval = { agent_id?: string; request: PermissionRequest; decision?: Decision; open: boolean };

export type Asked = { agent_id?: string; question: Question; reply?: Reply; open: boolean };

export type Context = { tokens: number; window: number };

/** The end of the work, with the figures of all work since the last one. */
export type WorkEnd = {
  reason: CompleteReason;
  error_code?: number;
  over: boolean;
  turns: number;
  duration_ms: number;
  waited_ms: number;
  usage: Usage;
  session_usage: Usage;
  budget?: BudgetReached;
  models: string[];
  context?: Context;
  refused?: string[];
  background?: { name: string; summary: string }[];
  plan_dropped?: boolean;
};

export type WentBack = Payload<"rewind"> & {
  before?: string;
  gone?: string[];
  again?: string[];
  named?: boolean;
  redo?: boolean;
};

export type AgentStep = { did: "began" | "paused" | "went_on" | "ended"; depth: number; node: AgentNode };

export type AgentLetter = { agent_id: string; name: string; depth: number; letter: Letter };

export type WorkflowStep = {
  workflow_id: string;
  name: string;
  state: WorkflowState;
  began: boolean;
  tasks: WorkflowTask[];
  moved: string[];
  ended?: boolean;
};

export type BlockBody =
  | PlainBody
  | { kind: "message"; data: Said }
  | { kind: "thinking"; data: Written }
  | { kind: "answer"; data: Written }
  | { kind: "call"; data: Call }
  | { kind: "approval"; data: Approval }
  | { kind: "question"; data: Asked }
  | { kind: "todos"; data: { todos: Todo[] } }
  | { kind: "plan"; data: { plan?: Plan; found?: string[] } }
  | { kind: "agent"; data: AgentStep }
  | { kind: "letter"; data: AgentLetter }
  | { kind: "workflow"; data: WorkflowStep }
  | { kind: "rewind"; data: WentBack }
  | { kind: "end"; data: WorkEnd };

/** One thing that a person sees; `rev` counts its changes. */
export type Block = { id: number; seq: number; at_ms: number; void?: true; rev: number } & BlockBody;

export type BlockOf<K extends BlockBody["kind"]> = Extract<Block, { kind: K }>;

/** Whether nothing more comes of a call. */
export function isOver(call: Call): boolean {
  return call.status === "success" || call.status === "error" || call.status === "cancelled";
}
