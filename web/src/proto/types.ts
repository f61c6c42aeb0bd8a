// Written by `cargo xtask reference` from the types of `neco-proto`; do not edit.
export type Json = unknown;
export type SessionId = string;
export type AgentId = string;
export type TurnId = string;
export type Mode = "agent" | "plan" | "ask" | "debug";
export type ApprovalMode = "auto" | "accept_edits" | "ask_first" | "manual";
export type ForkedFrom = { session_id: SessionId; seq: number; };
export type AgentState = "idle" | "streaming" | "tool_pending" | "awaiting_approval" | "tool_executing" | "tool_result_ready" | "iteration_limit" | "complete" | "failed" | "cancelled";
export type CallId = string;
export type ToolOrigin = { kind: "built_in";  } | { kind: "mcp"; server: string; } | { kind: "plugin"; name: string; } | { kind: "script"; path: string; } | { kind: "editor";  };
export type CallStatus = "validating" | "scheduled" | "awaiting_approval" | "executing" | "success" | "error" | "cancelled";
export type OutputStream = "output" | "note";
export type ResultPart = { kind: "picture"; source: string; media_type: string; } | { kind: "link"; uri: string; name: string; description?: string; media_type?: string; } | { kind: "resource"; uri: string; media_type?: string; text?: string; data?: string; } | { kind: "data"; value: Json; };
export type Display = { kind: "text"; text: string; } | { kind: "diff"; files: Array<Diff>; } | { kind: "terminal"; command: string; tail: string; exit_code?: number; background?: string; } | { kind: "list"; title: string; items: Array<string>; total: number; };
export type Diff = { path: string; unified: string; added: number; removed: number; created: boolean; deleted?: boolean; };
export type KnownFile = { path: string; sha256: string; lines?: Array<Array<Json>>; total_lines?: number; };
export type Risk = "safe" | "low" | "medium" | "high" | "critical";
export type AskedAhead = { call_id: CallId; summary: string; risk?: Risk; says?: Says; };
export type Says = "part" | "whole" | "command";
export type Decision = { kind: "once";  } | { kind: "session";  } | { kind: "always";  } | { kind: "edit"; arguments: Json; } | { kind: "reject"; reason?: string; };
export type Actor = { kind: "person";  } | { kind: "device"; name: string; } | { kind: "program"; name: string; } | { kind: "agent"; id: AgentId; } | { kind: "rule"; rule: string; };
export type HookEvent = "SessionStart" | "SessionEnd" | "UserPromptSubmit" | "PreToolUse" | "PermissionRequest" | "PostToolUse" | "PostToolUseFailure" | "Stop" | "SubagentStart" | "SubagentStop" | "PreCompact" | "PostCompact" | "Notification" | "Error";
export type HookOutcome = "passed" | "allowed" | "asked" | "blocked" | "stopped" | "failed" | "timed_out" | "cancelled";
export type MessageId = string;
export type MemoryAction = "recalled" | "stored" | "updated";
export type MemoryNote = { id: string; title: string; scope: MemoryScope; path: string; };
export type MemoryScope = "global" | "directory";
export type QuestionId = string;
export type QuestionItem = { title?: string; text: string; options?: Array<QuestionOption>; multiple?: boolean; empty?: EmptyAnswer; field?: FormField; };
export type QuestionOption = { label: string; description?: string; };
export type EmptyAnswer = "allowed" | "default" | "refused";
export type FormField = { server: string; default?: string; };
export type Reply = { kind: "choices"; answers: Array<ItemAnswer>; } | { kind: "accept_plan"; approval?: ApprovalMode; comments?: string; } | { kind: "accept_changed_plan"; plan: string; } | { kind: "revise_plan"; comments: string; } | { kind: "drop_plan";  } | { kind: "go_on"; comments?: string; } | { kind: "dismiss";  };
export type ItemAnswer = { chosen?: Array<string>; text?: string; };
export type Todo = { id: string; text: string; status: TodoStatus; parent?: string; };
export type TodoStatus = "pending" | "in_progress" | "completed" | "cancelled";
export type Plan = { text: string; status: PlanStatus; steps?: Array<PlanStep>; unseen?: boolean; };
export type PlanStatus = "proposed" | "accepted" | "sent_back" | "dropped" | "finished";
export type PlanStep = { id: string; text: string; done: boolean; };
export type SidePurpose = "title" | "memory" | "rerank" | "sampling";
export type NotificationLevel = "info" | "warning";
export type NotificationTopic = "compaction_begins" | "compaction_failed" | "not_kept";
export type ActingChange = { does: ActsLater; files: Array<string>; checkpoint?: string; };
export type ActsLater = "runs" | "runs_elsewhere" | "instructs";
export type Admission = "turn_boundary" | "after_work" | "withdrawn";
export type Message = { id: MessageId; role: Role; parts: Array<Part>; model?: string; author?: Author; by?: Actor; said?: string; };
export type Role = "user" | "assistant" | "tool";
export type Part = { kind: "text"; text: string; } | { kind: "image"; media_type: string; data: string; } | { kind: "reasoning"; text: string; opaque?: Json; } | { kind: "tool_call"; id: CallId; name: string; arguments: string; opaque?: Json; } | { kind: "tool_result"; call_id: CallId; output: string; error_code?: ErrorCode; };
export type Author = "person" | "neco" | "hook";
export type Selection = { first_line: number; last_line: number; text: string; };
export type SkillCause = "person" | "model" | "words" | "definition";
export type GivenPiece = { path: string; first_line: number; last_line: number; };
export type TrimmedOutput = { call_id: CallId; output: string; };
export type TrimmedArguments = { call_id: CallId; arguments: string; };
export type CompactionCause = "full" | "too_long" | "asked";
export type CompactionStrategy = "summary" | "outputs" | "window";
export type CheckpointWhen = "before" | "after" | "restore";
export type FileChange = { path: string; kind: FileChangeKind; };
export type FileChangeKind = "added" | "modified" | "deleted";
export type LeftOut = { path: string; why: LeftOutWhy; };
export type LeftOutWhy = "ignored" | "too_big" | "secret" | "other";
export type AgentNode = { id: AgentId; name: string; type: NodeType; role: string; parent?: AgentId; children: Array<AgentId>; collapsed?: number; task: string; model_group: string; state: NodeState; paused_by?: AgentId; progress: number; last_message?: string; usage: Usage; subtree_usage: Usage; budget?: SubtreeBudget; created: string; changed: string; result?: NodeResult; };
export type NodeType = "root" | "child" | "act_only";
export type NodeState = "created" | "running" | "paused" | "completed" | "failed" | "cancelled";
export type Usage = { input: number; output: number; cache_read?: number; cache_write?: number; reasoning?: number; cost?: number; unpriced?: number; };
export type SubtreeBudget = { tokens?: number; cost?: number; };
export type NodeResult = { kind: "output"; output: Json; } | { kind: "error"; code?: ErrorCode; message: string; };
export type Letter = { way: "up"; kind: "report"; progress: number; message: string; } | { way: "up"; kind: "question"; text: string; } | { way: "up"; kind: "ended"; result: NodeResult; } | { way: "up"; kind: "stopped"; why: string; quiet?: boolean; } | { way: "down"; kind: "task"; text: string; } | { way: "down"; kind: "redirect"; text: string; } | { way: "down"; kind: "answer"; text: string; };
export type WorkflowId = string;
export type WorkflowState = "running" | "interrupted" | "completed" | "partly" | "failed" | "cancelled";
export type WorkflowTask = { id: string; kind: TaskKind; state: TaskState; needs?: Array<string>; agent_id?: AgentId; started?: string; ended?: string; attempts?: number; error?: string; output?: Json; };
export type TaskKind = "agent" | "tool" | "command";
export type TaskState = "pending" | "ready" | "running" | "completed" | "failed" | "cancelled" | "skipped";
export type TitleSource = "first_words" | "model" | "person";
export type CompleteReason = "natural" | "iteration_limit" | "cancelled" | "failed" | "budget" | "stopped" | "loop_detected";
export type BudgetReached = { of: "cost"; limit: number; used: number; } | { of: "tokens"; limit: number; used: number; } | { of: "time"; limit: number; used: number; };
export type Attachment = { kind: "image"; media_type: string; data: string; };
export type MessagePiece = { text: string; printed?: boolean; };
export type IdeContext = { active_file?: string; cursor_line?: number; selection?: Selection; open_files?: Array<string>; };
export type RewindWhat = "conversation" | "files" | "both";
export type AgentOrder = { kind: "task"; text: string; } | { kind: "redirect"; text: string; } | { kind: "answer"; text: string; } | { kind: "pause";  } | { kind: "resume";  } | { kind: "cancel";  } | { kind: "retry";  } | { kind: "update_parameters"; model_group?: string; budget?: SubtreeBudget; tools?: Array<string>; };
export type WorkflowOrder = "cancel" | "resume";
export type ErrorCode = number;
export type EventEnvelope = { seq: number; ts: string; session_id: SessionId; agent_id: AgentId; turn_id?: TurnId; needs?: number; };
export type EventBody =
  | ({ type: "session_start" } & { version: string; cwd: string; model: string; scripted: boolean; mode: Mode; approval: ApprovalMode; generation?: number; sandbox: string; usual_sandbox?: boolean; resumed: boolean; single?: boolean; forked_from?: ForkedFrom; })
  | ({ type: "state_change" } & { from: AgentState; to: AgentState; iteration: number; })
  | ({ type: "turn_start" } & { iteration: number; model: string; })
  | ({ type: "stream_chunk" } & { text: string; })
  | ({ type: "reasoning_chunk" } & { text: string; })
  | ({ type: "stream_tool_call_start" } & { index: number; call_id: CallId; name: string; })
  | ({ type: "stream_tool_call_delta" } & { call_id: CallId; partial_args: string; })
  | ({ type: "model_retry" } & { attempt: number; attempts?: number; model?: string; wait_ms: number; code: ErrorCode; message: string; discards: boolean; })
  | ({ type: "model_switch" } & { from: string; to: string; code: ErrorCode; message: string; discards: boolean; })
  | ({ type: "tool_call_update" } & { call_id: CallId; tool: string; origin?: ToolOrigin; status: CallStatus; summary: string; })
  | ({ type: "tool_output_chunk" } & { call_id: CallId; stream: OutputStream; text: string; })
  | ({ type: "tool_call_end" } & { call_id: CallId; tool: string; origin?: ToolOrigin; summary: string; status: CallStatus; output: string; parts?: Array<ResultPart>; error_code?: ErrorCode; advice?: string; agent?: string; duration_ms: number; display?: Display; spilled_to?: string; known?: Array<KnownFile>; })
  | ({ type: "permission_request" } & { call_id: CallId; tool: string; origin?: ToolOrigin; summary: string; args: Json; command?: string; risk: Risk; reason: string; diff?: Array<Diff>; session_rule?: string; always_rule?: string; always_file?: string; sandboxed?: boolean; network?: boolean; opens?: boolean; ahead?: Array<AskedAhead>; })
  | ({ type: "permission_decision" } & { call_id: CallId; decision: Decision; by?: Actor; })
  | ({ type: "hook_run" } & { event: HookEvent; hook: string; outcome: HookOutcome; duration_ms: number; message?: string; call_id?: CallId; message_id?: MessageId; })
  | ({ type: "memory_update" } & { action: MemoryAction; entries: Array<MemoryNote>; text?: string; })
  | ({ type: "question" } & { question_id: QuestionId; call_id?: CallId; } & ({ about: "choices"; items: Array<QuestionItem>; } | { about: "plan"; plan: string; } | { about: "loop"; text: string; }))
  | ({ type: "question_answer" } & { question_id: QuestionId; reply?: Reply; by?: Actor; })
  | ({ type: "todo_update" } & { todos: Array<Todo>; })
  | ({ type: "plan_update" } & { plan?: Plan; findings?: Array<string>; by?: Actor; })
  | ({ type: "shared_state" } & { key: string; value?: Json; version: number; writer: string; })
  | ({ type: "mode_change" } & { mode?: Mode; approval?: ApprovalMode; model?: string; generation?: number; reason?: string; by?: Actor; })
  | ({ type: "usage" } & { model: string; input: number; output: number; cache_read?: number; cache_write?: number; reasoning?: number; cost?: number; unpriced?: number; context_window?: number; aside?: SidePurpose; })
  | ({ type: "side_call" } & { purpose: SidePurpose; running: boolean; })
  | ({ type: "notification" } & { level: NotificationLevel; text: string; about?: NotificationTopic; changed?: ActingChange; fitted?: number; })
  | ({ type: "message_queued" } & { when: Admission; message: Message; })
  | ({ type: "message" } & { id: MessageId; role: Role; parts: Array<Part>; model?: string; author?: Author; by?: Actor; said?: string; })
  | ({ type: "environment" } & { text: string; date: string; repo_map?: string; })
  | ({ type: "ide_context" } & { active_file?: string; cursor_line?: number; selection?: Selection; open_files?: Array<string>; })
  | ({ type: "rules_told" } & { files: Array<string>; unread?: Array<string>; })
  | ({ type: "skill_used" } & { name: string; file: string; cause: SkillCause; })
  | ({ type: "pieces_given" } & { message_id: MessageId; pieces: Array<GivenPiece>; tokens?: number; })
  | ({ type: "context_trim" } & { before: number; after: number; outputs: Array<TrimmedOutput>; arguments?: Array<TrimmedArguments>; })
  | ({ type: "compaction" } & { cause: CompactionCause; strategy: CompactionStrategy; before: number; after: number; kept: number; removed: number; focus?: string; by?: Actor; pinned?: Array<MessageId>; summary?: Message; since?: MessageId; outputs?: Array<TrimmedOutput>; arguments?: Array<TrimmedArguments>; notes?: Array<string>; })
  | ({ type: "checkpoint" } & { rev: string; parent?: string; when: CheckpointWhen; to?: string; label: string; changed?: Array<FileChange>; more?: number; left_out?: Array<LeftOut>; left_out_more?: number; })
  | ({ type: "files_back" } & { done: number; total: number; })
  | ({ type: "rewind" } & { to: number; message_id: MessageId; conversation: boolean; files?: string; undo?: string; now?: string; undoes?: number; changed?: number; deleted?: number; over_others?: boolean; by?: Actor; })
  | ({ type: "agent_update" } & { node: AgentNode; gone?: Array<AgentId>; setup?: Json; by?: Actor; anew?: boolean; })
  | ({ type: "agent_message" } & { from: Actor; to: AgentId; letter: Letter; message_id: MessageId; })
  | ({ type: "stop" } & { paused?: Array<AgentId>; by?: Actor; })
  | ({ type: "workflow_update" } & { workflow_id: WorkflowId; name: string; state: WorkflowState; strategy: string; tasks: Array<WorkflowTask>; definition?: Json; inputs?: Json; by?: Actor; })
  | ({ type: "title" } & { title: string; by: TitleSource; })
  | ({ type: "imported" } & { from: string; file: string; id?: string; skipped: number; })
  | ({ type: "error" } & { code: ErrorCode; message: string; retryable: boolean; })
  | ({ type: "turn_end" } & { iteration: number; })
  | ({ type: "agent_complete" } & { reason: CompleteReason; error_code?: ErrorCode; final: string; turns: number; usage: Usage; session_usage?: Usage; duration_ms: number; waited_ms?: number; budget?: BudgetReached; by?: Actor; })
;
export type Event = EventEnvelope & EventBody;
export type Command =
  | ({ type: "user_message" } & { content: string; attachments?: Array<Attachment>; })
  | ({ type: "steer" } & { text: string; })
  | ({ type: "command_message" } & { pieces: Array<MessagePiece>; attachments?: Array<Attachment>; steers?: boolean; allow?: Array<string>; model?: string; })
  | ({ type: "withdraw" } & { message_ids: Array<MessageId>; })
  | ({ type: "approve" } & { call_id: CallId; decision: Decision; })
  | ({ type: "compact" } & { focus?: string; })
  | ({ type: "set_ide_context" } & { context: IdeContext; })
  | ({ type: "answer" } & { question_id: QuestionId; reply: Reply; })
  | ({ type: "cancel" } & {})
  | ({ type: "stop_all" } & {})
  | ({ type: "background" } & { call_id: CallId; })
  | ({ type: "stop_background" } & { agent_id: AgentId; name: string; })
  | ({ type: "set_mode" } & { mode: Mode; })
  | ({ type: "set_model" } & { model: string; })
  | ({ type: "set_generation" } & { generation: number; })
  | ({ type: "set_approval" } & { approval: ApprovalMode; })
  | ({ type: "rewind" } & { message_id: MessageId; what: RewindWhat; })
  | ({ type: "restore_checkpoint" } & { rev: string; })
  | ({ type: "undo_rewind" } & {})
  | ({ type: "redo_rewind" } & {})
  | ({ type: "rename" } & { title: string; })
  | ({ type: "agent_command" } & { agent_id: AgentId; order: AgentOrder; })
  | ({ type: "run_workflow" } & { definition: Json; inputs?: Json; })
  | ({ type: "workflow_command" } & { workflow_id: WorkflowId; order: WorkflowOrder; })
  | ({ type: "shutdown" } & {})
;
export type SessionSnapshot = { session_id: string; root_agent: string; last_seq: number; cwd: string; title?: string; model: string; mode: Mode; approval: ApprovalMode; state: AgentState; usage: Usage; aside?: Usage; pending: PermissionRequest[]; questions?: Question[]; generation?: number; todos?: Todo[]; plan?: Plan; findings?: string[]; agents?: number };
type Without<T, K extends string> = T extends unknown ? Omit<T, K> : never;
export type PermissionRequest = Without<Extract<EventBody, { type: "permission_request" }>, "type">;
export type Question = Without<Extract<EventBody, { type: "question" }>, "type">;
export type SessionState = "open" | "stopped" | "at_rest" | "other";
export type SessionRow = { id: string; title: string; title_by: TitleSource | null; cwd: string; created: string; updated: string; events: number; messages?: number; single?: boolean; forked_from: ForkedFrom | null; bytes?: number; state?: SessionState; work?: NodeState; asks?: boolean; usage?: Usage; branch?: string };
export type SessionPage = { sessions: SessionRow[]; more?: number; next?: string; older?: number; above?: string };
export type RecentFolder = { folder: string; sessions: number; updated: string; title: string; is_there: boolean };
export type RecentFolders = { folders: RecentFolder[] };
export type WorkflowGraph = { workflow_id: string; name: string; state: WorkflowState; strategy: string; tasks: WorkflowTask[]; inputs?: Json };

export type ModelGroup = { models: string[]; strategy: string };
export type ModelRow = { name: string; usable: boolean; default: boolean; context_window: number; vision: boolean; tools: boolean; reasoning: boolean };
export type ProviderRow = { name: string; title?: string; usable: boolean };
export type ModelList = { groups: Record<string, ModelGroup>; providers: ProviderRow[]; models: ModelRow[]; hidden?: number; warnings?: string[] };
export type Branch = { name: string | null };
