//! The types of the API: written by `npm run types` from what the program says of itself, do not edit.

/** Any JSON. */
export type Json = unknown;

/** Files that act later without being called and were changed without a question. */
export type ActingChange = {
  /** What they do. */
  does: ActsLater;
  /** Which they are, from the workspace on. */
  files: Array<string>;
  /** The state of the workspace before the turn that changed them; absent when none was kept. */
  checkpoint?: string;
};

/** Who something came from. */
export type Actor = ({
  kind: "person";
} | {
  kind: "device";
  /** What it is called. */
  name: string;
} | {
  kind: "program";
  /** What it is called. */
  name: string;
} | {
  kind: "agent";
  /** Which one. */
  id: AgentId;
} | {
  kind: "rule";
  /** The rule as people write it. */
  rule: string;
});

/** What a file does later without being called. */
export type ActsLater = ("runs" | "runs_elsewhere" | "instructs");

/** When a message that came while the agent works is given to it. */
export type Admission = ("turn_boundary" | "after_work" | "withdrawn");

/** The agent is done with what it was asked. */
export type AgentComplete = {
  /** Why. */
  reason: CompleteReason;
  /** What failed, when something did. */
  error_code?: ErrorCode;
  /** The model's last words. */
  final: string;
  /** Turns since the user message. */
  turns: number;
  /** What those turns used. */
  usage: Usage;
  /** What the session used in all, those turns included. */
  session_usage?: Usage;
  /** How long they took. */
  duration_ms: number;
  /** The part of that in which the person was waited for. */
  waited_ms?: number;
  /** The limit that the session has reached, whether or not that ended the work. */
  budget?: BudgetReached;
  /** Who stopped it, when somebody did. */
  by?: Actor;
};

/** Who an agent of a name is, without its prompt. */
export type AgentDefinition = {
  /** Its name. */
  name: string;
  /** What it is good for. */
  description: string;
  /** Where it comes from. */
  origin: Origin;
  /** Its file; none for one that comes with the program. */
  file?: string;
  /** Whether it may create agents of its own. */
  type: NodeType;
  /** The group or model that it asks; none for the same as its parent. */
  model?: string;
  /** How freely the model chooses its words. */
  temperature?: number;
  /** Most tokens of one answer. */
  max_output?: number;
  /** Only these tools exist for it; none for the same as its parent. */
  tools?: Array<string>;
  /** These tools do not. */
  disallowed_tools: Array<string>;
  /** The mode it works in, where that is narrower than its parent's. */
  mode?: Mode;
  /** Calls that are refused, as `--deny` is written. */
  deny: Array<string>;
  /** Calls that a person decides about, as `--ask` is written. */
  ask: Array<string>;
  /** Most turns. */
  max_turns?: number;
  /** Seconds that it may take. */
  timeout?: number;
  /** What it and everybody below it may use. */
  budget: SubtreeBudget;
  /** What it is started with, by name. */
  inputs?: Record<string, DeclaredInput>;
};

/** One node of a session's agent tree. */
export type AgentId = string;

/** Agents, and what is wrong with files that define some. */
export type AgentList = {
  /** The agents. */
  agents: Array<AgentDefinition>;
  /** What is wrong. */
  problems: Array<Problem>;
};

/** An agent, or the person, says something to another agent. */
export type AgentMessage = {
  /** Who says it. */
  from: Actor;
  /** To whom. */
  to: AgentId;
  /** What. */
  letter: Letter;
  /** The message by which it enters the conversation of the one it is said to. */
  message_id: MessageId;
};

/** One agent of the tree. */
export type AgentNode = {
  /** Its id. */
  id: AgentId;
  /** What it is called in its session: its role and a number, such as `explore-2`; `root` for the root. */
  name: string;
  /** What kind it is. */
  type: NodeType;
  /** The name of its definition, such as `coder`. */
  role: string;
  /** Who created it; nobody for the root. */
  parent?: AgentId;
  /** Those it created, oldest first; without those that went when it finished. */
  children: Array<AgentId>;
  /** How many agents below it are gone because everything there was finished. */
  collapsed?: number;
  /** What it was asked to do. */
  task: string;
  /** The model or model group it asks. */
  model_group: string;
  /** What it is doing. */
  state: NodeState;
  /** Whose pause it is in: its own, or that of an agent above it. */
  paused_by?: AgentId;
  /** How far it says it is, from 0 to 1. */
  progress: number;
  /** What it said last. */
  last_message?: string;
  /** What it used itself. */
  usage: Usage;
  /** What it and everybody below it used. */
  subtree_usage: Usage;
  /** What it and everybody below it may use. */
  budget?: SubtreeBudget;
  /** When it was created. */
  created: string;
  /** When its state changed last. */
  changed: string;
  /** What came of its task. */
  result?: NodeResult;
};

/** What an agent of the tree is told to do. */
export type AgentOrder = ({
  kind: "task";
  /** What. */
  text: string;
} | {
  kind: "redirect";
  /** What to do otherwise. */
  text: string;
} | {
  kind: "answer";
  /** The answer. */
  text: string;
} | {
  kind: "pause";
} | {
  kind: "resume";
} | {
  kind: "cancel";
} | {
  kind: "retry";
} | AgentParameters & {
  kind: "update_parameters";
});

/** What of an agent can be changed while it works. */
export type AgentParameters = {
  /** Another model or model group. */
  model_group?: string;
  /** Another budget for it and everybody below it. */
  budget?: SubtreeBudget;
  /** Only these tools, of those it has. */
  tools?: Array<string>;
};

/** What an agent's loop is doing. */
export type AgentState = ("idle" | "streaming" | "tool_pending" | "awaiting_approval" | "tool_executing" | "tool_result_ready" | "iteration_limit" | "complete" | "failed" | "cancelled");

/** An agent of the tree is new or has changed. */
export type AgentUpdate = {
  /** How it is now. */
  node: AgentNode;
  /** Those below it that are gone from the tree with this, their logs kept. */
  gone?: Array<AgentId>;
  /** How it was set up, once, when it is new: what it takes to go on with it after a crash. */
  setup?: Json;
  /** Who told it to pause, go on, end or work otherwise, when that is what changed. */
  by?: Actor;
  /** Whether it begins its task anew with this: what it said and did before is no part of its conversation any more. */
  anew?: boolean;
};

/** The answer to a [`Query`], variant for variant. */
export type Answer = (SessionSnapshot & {
  type: "snapshot";
} | {
  type: "messages";
  /** Oldest first. */
  messages: Array<Message>;
} | ContextReport & {
  type: "context";
} | PromptReport & {
  type: "prompt";
} | {
  type: "checkpoints";
  /** Oldest first. */
  checkpoints: Array<CheckpointInfo>;
} | {
  type: "rewind_points";
  /** Oldest first. */
  points: Array<RewindPoint>;
} | RewindPreview & {
  type: "rewind_preview";
} | {
  type: "tree";
  /** The root first, parents before their children. */
  nodes: Array<AgentNode>;
} | {
  type: "workflows";
  /** Oldest first, each with all its tasks. */
  workflows: Array<WorkflowGraph>;
} | SessionRules & {
  type: "rules";
} | {
  type: "background";
  /** Those of the root first, each agent's oldest first; some that are over are among them. */
  commands: Array<BackgroundCommand>;
} | {
  type: "background_output";
  /** The command, as it stands. */
  command: BackgroundCommand;
  /** The last lines that it printed, as plain text. */
  tail: string;
});

/** When the person is asked; those that ask less come before those that ask more. */
export type ApprovalMode = ("auto" | "accept_edits" | "ask_first" | "manual");

/** A call that a person will be asked about when its turn comes. */
export type AskedAhead = {
  /** The call. */
  call_id: CallId;
  /** The call in one line. */
  summary: string;
  /** How much harm it could do, as things stand now; absent where that shows only when its turn comes. */
  risk?: Risk;
  /** How much of it that line says. */
  says?: Says;
};

/** What is shown with a message. */
export type Attachment = ({
  kind: "image";
  /** `image/png`, `image/jpeg`, `image/webp` or `image/gif`. */
  media_type: string;
  /** The file's bytes in base64. */
  data: string;
});

/** What somebody did, or was refused. */
export type AuditLine = {
  /** When. */
  at: string;
  /** Who; nobody who showed no token that is known. */
  by?: Actor;
  /** What they may do at most. */
  scope?: Known14;
  /** A call, a command of a session, or what was asked by whoever was turned away. */
  does: string;
  /** The session that it is about. */
  session?: string;
  /** The address of whoever was turned away. */
  from?: string;
  /** The token that is made or removed; empty is the person's own. */
  token?: string;
  /** Why nothing came of it. */
  refused?: string;
};

/** A page of what was done. */
export type AuditPage = {
  /** The newest first. */
  lines: Array<AuditLine>;
  /** Where the next page begins, if there is one. */
  next?: string;
};

/** Who speaks in the person's place. */
export type Author = ("person" | "neco" | "hook");

/** A command in the background of an agent. */
export type BackgroundCommand = {
  /** The agent that started it. */
  agent_id: AgentId;
  /** What it is called there, such as `bg-1`. */
  name: string;
  /** The command line. */
  command: string;
  /** When it began. */
  started: string;
  /** How it ended; absent while it runs. */
  ended?: BackgroundEnd;
};

/** How a command in the background ended. */
export type BackgroundEnd = {
  /** Its exit code; absent where a signal ended it. */
  exit_code?: number;
  /** How long it ran, in milliseconds. */
  took_ms: number;
};

/** Where a repository stands. */
export type Branch = {
  /** The branch, or the commit in brackets; none where there is no repository. */
  name?: string;
};

/** Something that a plugin brings. */
export type BroughtRow = {
  /** What kind of thing, such as `skill`. */
  kind: string;
  /** Its name; for a hook its moment. */
  name: string;
  /** What it runs or reaches. */
  runs?: string;
  /** The first lines of what is run, what it is given, and what it asks for. */
  says?: string;
};

/** A limit of a session that is reached, and what the session used in all. */
export type BudgetReached = ({
  of: "cost";
  /** What may be spent. */
  limit: number;
  /** What was spent. */
  used: number;
} | {
  of: "tokens";
  /** What may be used. */
  limit: number;
  /** What was used. */
  used: number;
} | {
  of: "time";
  /** What may be used. */
  limit: number;
  /** What was used. */
  used: number;
});

/** A tool call's id: the model's own when it is unique in the session, otherwise `tool-<uuid>`. */
export type CallId = string;

/** Where a call is in its life. */
export type CallStatus = ("validating" | "scheduled" | "awaiting_approval" | "executing" | "success" | "error" | "cancelled");

/** A run that does not go on. */
export type CancelledWorkflow = {
  /** The run. */
  run: WorkflowRun;
  /** Whether the process that runs it was told to stop; nobody runs it otherwise. */
  elsewhere?: boolean;
};

/** A file that is different. */
export type ChangedFile = {
  /** Its path, relative to the workspace. */
  path: string;
  /** What happened to it. */
  kind: FileChangeKind;
  /** Whether it has no lines that could be compared. */
  binary?: boolean;
  /** Lines added. */
  added?: number;
  /** Lines removed. */
  removed?: number;
  /** Whether no turn of the session changed it, but somebody else did meanwhile. */
  by_others?: boolean;
  /** The lines of it that the session's work added and removed, where somebody else changed it too. */
  own?: LineCount;
  /** How many lines of it somebody else changed since the session's work ended. */
  since?: number;
  /** A name for exactly this change of this file: another content has another one. */
  mark: string;
  /** Whether a person keeps all of it. */
  kept?: boolean;
  /** How many changes it has. */
  hunks?: number;
  /** How many of them a person keeps. */
  hunks_kept?: number;
  /** The names of the agents that edited it, as far as their calls say so. */
  agents?: Array<string>;
  /** The numbers of the messages that it was edited because of, as far as calls say so. */
  messages?: Array<number>;
};

/** How much was changed in files. */
export type ChangedFiles = {
  /** How many files. */
  files: number;
  /** Lines that edits added. */
  added: number;
  /** Lines that edits removed. */
  removed: number;
};

/** What settings mean. */
export type CheckedSettings = {
  /** The settings with values of the kind that each takes. */
  settings: Array<NewSetting>;
  /** Whether agents would be freer with them than they are. */
  loosens: boolean;
};

/** The workspace was kept as it is. */
export type Checkpoint = {
  /** The name of this state. */
  rev: string;
  /** The state it was compared with; absent when it is the first one. */
  parent?: string;
  /** When it was kept. */
  when: CheckpointWhen;
  /** The state that is put in its place, where it was kept before that; absent in logs that are older than this. */
  to?: string;
  /** What was going on, in a few words. */
  label: string;
  /** What is different from `parent`; 200 at most. */
  changed?: Array<FileChange>;
  /** How many more files are different. */
  more?: number;
  /** What was not kept; 50 at most. */
  left_out?: Array<LeftOut>;
  /** How many more were not kept. */
  left_out_more?: number;
};

/** A state of the workspace that was kept. */
export type CheckpointInfo = {
  /** Its name. */
  rev: string;
  /** The event that tells of it. */
  seq: number;
  /** When it was kept. */
  ts: string;
  /** What was going on, in a few words. */
  label: string;
  /** Before or after a turn, or before another state was put in its place. */
  when: CheckpointWhen;
  /** How many files are different from the state before it. */
  changed: number;
};

/** When the workspace was kept. */
export type CheckpointWhen = ("before" | "after" | "restore");

/** What a window can ask of a session. */
export type Command = ({
  type: "user_message";
  /** What is said. */
  content: string;
  /** What is shown with it. */
  attachments?: Array<Attachment>;
} | {
  type: "steer";
  /** What is said. */
  text: string;
} | {
  type: "command_message";
  /** What is said. */
  pieces: Array<MessagePiece>;
  /** What is shown with it. */
  attachments?: Array<Attachment>;
  /** Whether a working agent sees it at its next turn boundary, as with [`Command::Steer`]; else it is queued. */
  steers?: boolean;
  /** What the root agent is allowed while it does that, as rules such as `Bash(git add:*)`; what denies it counts all the same. */
  allow?: Array<string>;
  /** The model that is asked for it, `provider/model` or the name of a group, unless one was chosen for the session. */
  model?: string;
} | {
  type: "withdraw";
  /** The messages. */
  message_ids: Array<MessageId>;
} | {
  type: "approve";
  /** The call that waits. */
  call_id: CallId;
  /** What the person decided. */
  decision: Decision;
} | {
  type: "compact";
  /** What the summary should pay attention to. */
  focus?: string;
} | {
  type: "set_ide_context";
  /** All that is open now. */
  context: IdeContext;
} | {
  type: "answer";
  /** The question. */
  question_id: QuestionId;
  /** What the person says. */
  reply: Reply;
} | {
  type: "cancel";
} | {
  type: "stop_all";
} | {
  type: "background";
  /** The call. */
  call_id: CallId;
} | {
  type: "stop_background";
  /** The agent that started it. */
  agent_id: AgentId;
  /** What it is called there. */
  name: string;
} | {
  type: "set_mode";
  /** The new mode. */
  mode: Mode;
} | {
  type: "set_model";
  /** `provider/model`, or the name of a group. */
  model: string;
} | {
  type: "set_generation";
  /** From 1 to the highest. */
  generation: number;
} | {
  type: "set_approval";
  /** The new approval mode. */
  approval: ApprovalMode;
} | {
  type: "rewind";
  /** The message. */
  message_id: MessageId;
  /** What is rewound. */
  what: RewindWhat;
} | {
  type: "restore_checkpoint";
  /** The name of the checkpoint, or the beginning of it. */
  rev: string;
} | {
  type: "undo_rewind";
} | {
  type: "redo_rewind";
} | {
  type: "revert_files";
  /** The point that they were compared with, as `sessions.changes` names it; the first message when it is empty. */
  from?: string;
  /** What is put back. */
  changes: Array<RevertedFile>;
} | {
  type: "retry_call";
  /** The call. */
  call_id: CallId;
} | {
  type: "rename";
  /** The title. */
  title: string;
} | {
  type: "agent_command";
  /** The agent. */
  agent_id: AgentId;
  /** What to do. */
  order: AgentOrder;
} | {
  type: "run_workflow";
  /** The workflow, as a file would have it. */
  definition: Json;
  /** What it is started with. */
  inputs?: Json;
} | {
  type: "workflow_command";
  /** The workflow. */
  workflow_id: WorkflowId;
  /** What to do. */
  order: WorkflowOrder;
} | {
  type: "shutdown";
});

/** The conversation that the model has was made shorter. The log keeps all of it. */
export type Compaction = {
  /** Why. */
  cause: CompactionCause;
  /** How. */
  strategy: CompactionStrategy;
  /** Tokens of the context before. */
  before: number;
  /** Tokens of the context after. */
  after: number;
  /** How many messages stayed as they were. */
  kept: number;
  /** How many are gone from what the model has. */
  removed: number;
  /** What the person asked to pay attention to. */
  focus?: string;
  /** Who asked for it, when somebody did. */
  by?: Actor;
  /** Messages of the older part that stayed, in order. */
  pinned?: Array<MessageId>;
  /** What stands in place of the older part, after what stayed of it. */
  summary?: Message;
  /** Where the part begins that stayed as it was; absent when nothing was removed. */
  since?: MessageId;
  /** Outputs that were shortened. */
  outputs?: Array<TrimmedOutput>;
  /** Arguments that were shortened. */
  arguments?: Array<TrimmedArguments>;
  /** Why better ways were not taken, in words. */
  notes?: Array<string>;
};

/** Why the conversation was compacted. */
export type CompactionCause = ("full" | "too_long" | "asked");

/** How the conversation was made shorter. */
export type CompactionStrategy = ("summary" | "outputs" | "window");

/** Why an agent is done. */
export type CompleteReason = ("natural" | "iteration_limit" | "cancelled" | "failed" | "budget" | "stopped" | "loop_detected");

/** How much room everything takes that the model would be told now. Tokens are estimates. */
export type ContextReport = {
  /** The model or group that would be asked. */
  model: string;
  /** Tokens that fit into one request and its answer; absent when that is not known. */
  window?: number;
  /** Whether the window is only assumed: nobody says how big that of the model is. */
  window_is_assumed?: boolean;
  /** Tokens of the window that are kept free for the answer. */
  reserve: number;
  /** Tokens from which on the conversation is compacted; absent when the window is not known. */
  compact_at?: number;
  /** Everything together. */
  tokens: number;
  /** The declarations of tools. */
  tools: ToolsSize;
  /** The layers that say something, in order. */
  layers: Array<LayerSize>;
  /** The conversation as the model has it, oldest first. */
  messages: Array<MessageSize>;
  /** What was given with the person's messages because it fits their words, and what became of it; absent where nothing was. */
  given?: GivenUse;
};

/** Outputs and arguments of earlier calls were shortened, because they are outdated or were long and have been used. The log keeps them whole. */
export type ContextTrim = {
  /** Tokens of the context before. */
  before: number;
  /** Tokens of the context after. */
  after: number;
  /** The outputs as the model has them from now on. */
  outputs: Array<TrimmedOutput>;
  /** The arguments as the model has them from now on. */
  arguments?: Array<TrimmedArguments>;
};

/** A person's answer to a permission request. */
export type Decision = ({
  kind: "once";
} | {
  kind: "session";
} | {
  kind: "always";
} | {
  kind: "edit";
  /** The arguments to run with. */
  arguments: Json;
} | {
  kind: "reject";
  /** The person's words; the model reads them. */
  reason?: string;
});

/** Something that an agent is started with. */
export type DeclaredInput = {
  /** What it can be. */
  type: Known5;
  /** What it is for. */
  description?: string;
  /** Its value when none is given. */
  default?: Json;
  /** Whether one must be given. */
  required: boolean;
};

/** The change of one file. */
export type Diff = {
  /** Path relative to the workspace where it lies inside it. */
  path: string;
  /** The change as a unified diff without file headers. */
  unified: string;
  /** Lines added. */
  added: number;
  /** Lines removed. */
  removed: number;
  /** Whether the file is new. */
  created: boolean;
  /** Whether the file is deleted. */
  deleted?: boolean;
};

/** A picture of a call's outcome that any window can draw its own way. */
export type Display = ({
  kind: "text";
  /** The text. */
  text: string;
} | {
  kind: "diff";
  /** One entry a file. */
  files: Array<Diff>;
} | {
  kind: "terminal";
  /** The command line. */
  command: string;
  /** The end of its output. */
  tail: string;
  /** Its exit code; absent when it was killed or still runs. */
  exit_code?: number;
  /** The name of the background process that it goes on as; absent when it is over. */
  background?: string;
} | {
  kind: "list";
  /** What the list is of, for its heading. */
  title: string;
  /** The entries; may be shorter than `total`. */
  items: Array<string>;
  /** How many there are in all. */
  total: number;
});

/** What a parent or the person says to an agent. Pausing, resuming, cancelling and other parameters are no letters: they happen to the agent at once. */
export type Down = ({
  kind: "task";
  /** What to do. */
  text: string;
} | {
  kind: "redirect";
  /** What to do otherwise. */
  text: string;
} | {
  kind: "answer";
  /** The answer. */
  text: string;
});

/** What it means to answer a question with nothing. */
export type EmptyAnswer = ("allowed" | "default" | "refused");

/** The variables that commands are given; no secret is among them. */
export type Environment = Record<string, string>;

/** What the model is told of the place where it works: gathered when the session was made, and told the same for as long as it lives. */
export type EnvironmentTold = {
  /** The text. */
  text: string;
  /** The day that the model was last told. */
  date: string;
  /** The map of the repository, where it is wanted and was ready. */
  repo_map?: string;
};

export type ErrorCode = (1001 | 1002 | 1003 | 1004 | 1005 | 1006 | 1007 | 1008 | 1009 | 1010 | 2001 | 2002 | 2003 | 2004 | 2005 | 2006 | 2007 | 3001 | 3002 | 3003 | 4001 | 4002 | 4003 | 4004 | 4005 | 4006 | 4007 | 4008 | 4009 | 4010 | 4011 | 5001 | 5002 | 6001 | 6002 | 6003);

/** Something went wrong. */
export type ErrorEvent = {
  /** The stable code. */
  code: ErrorCode;
  /** What happened, for a person. */
  message: string;
  /** Whether the same thing can succeed when it is tried again. */
  retryable: boolean;
};

/** Something that happened in a session. */
export type Event = (SessionStart & {
  type: "session_start";
} | StateChange & {
  type: "state_change";
} | TurnStart & {
  type: "turn_start";
} | StreamChunk & {
  type: "stream_chunk";
} | StreamChunk & {
  type: "reasoning_chunk";
} | ToolCallStart & {
  type: "stream_tool_call_start";
} | ToolCallDelta & {
  type: "stream_tool_call_delta";
} | ModelRetry & {
  type: "model_retry";
} | ModelSwitch & {
  type: "model_switch";
} | ToolCallUpdate & {
  type: "tool_call_update";
} | ToolOutputChunk & {
  type: "tool_output_chunk";
} | ToolCallEnd & {
  type: "tool_call_end";
} | PermissionRequest & {
  type: "permission_request";
} | PermissionDecision & {
  type: "permission_decision";
} | HookRun & {
  type: "hook_run";
} | MemoryUpdate & {
  type: "memory_update";
} | Question & {
  type: "question";
} | QuestionAnswer & {
  type: "question_answer";
} | TodoUpdate & {
  type: "todo_update";
} | PlanUpdate & {
  type: "plan_update";
} | SharedStateUpdate & {
  type: "shared_state";
} | ModeChange & {
  type: "mode_change";
} | UsageEvent & {
  type: "usage";
} | SideCall & {
  type: "side_call";
} | Notification & {
  type: "notification";
} | MessageQueued & {
  type: "message_queued";
} | Message & {
  type: "message";
} | EnvironmentTold & {
  type: "environment";
} | IdeContext & {
  type: "ide_context";
} | RulesTold & {
  type: "rules_told";
} | SkillUsed & {
  type: "skill_used";
} | PiecesGiven & {
  type: "pieces_given";
} | ContextTrim & {
  type: "context_trim";
} | Compaction & {
  type: "compaction";
} | Checkpoint & {
  type: "checkpoint";
} | FilesBack & {
  type: "files_back";
} | Rewind & {
  type: "rewind";
} | AgentUpdate & {
  type: "agent_update";
} | AgentMessage & {
  type: "agent_message";
} | SessionStop & {
  type: "stop";
} | WorkflowUpdate & {
  type: "workflow_update";
} | SessionTitle & {
  type: "title";
} | Imported & {
  type: "imported";
} | ErrorEvent & {
  type: "error";
} | TurnEnd & {
  type: "turn_end";
} | AgentComplete & {
  type: "agent_complete";
}) & {
  /** Position in the session's log, from 1, without gaps. */
  seq: number;
  /** When it happened, in UTC, always with three digits after the second. */
  ts: string;
  /** The session. */
  session_id: SessionId;
  /** The agent it happened to. */
  agent_id: AgentId;
  /** The turn it belongs to, if any. */
  turn_id?: TurnId;
  /** The version of the protocol that whoever goes on with the session has to know, when that is not the first. */
  needs?: number;
};

/** What would happen to a call. */
export type ExplainedCall = {
  /** What is to be done with it. */
  decision: Ruling;
  /** Why. */
  reason: string;
  /** The rule that decides, by its name or what it says. */
  rule: string;
  /** Who wrote that. */
  source: RuleSource;
  /** Where; empty for what has no place. */
  place: string;
  /** How much harm the call could do. */
  risk: Risk;
  /** The tool's own name. */
  tool: string;
  /** The arguments as rules see them. */
  arguments: string;
  /** The files and folders as rules see them. */
  paths: Array<string>;
  /** The commands of a line. */
  commands: Array<ExplainedCommand>;
  /** Whether all of the line was understood; none without a command. */
  understood?: boolean;
  /** What rules close in the box of the command. */
  closed: Array<string>;
  /** What "for this session" would allow. */
  session_rule?: string;
  /** What is not as it would be in a run. */
  notes: Array<string>;
  /** What is not as it was meant in settings and rules. */
  warnings?: Array<string>;
};

/** One command of a line. */
export type ExplainedCommand = {
  /** Its words, joined by spaces. */
  command: string;
  /** How much harm it could do. */
  risk: Risk;
  /** Why. */
  because?: string;
};

/** A file that is different. */
export type FileChange = {
  /** Its path, relative to the workspace. */
  path: string;
  /** How it is different. */
  kind: FileChangeKind;
};

/** How a file is different. */
export type FileChangeKind = ("added" | "modified" | "deleted");

/** How one file is different, change by change. */
export type FileChanges = {
  /** Its path, relative to the workspace. */
  path: string;
  /** What happened to it. */
  kind: FileChangeKind;
  /** Whether it has no lines that could be compared. */
  binary?: boolean;
  /** A name for exactly this change of this file, as in [`ChangedFile`]. */
  mark: string;
  /** Whether a person keeps all of it. */
  kept?: boolean;
  /** How many lines it had. */
  lines_before?: number;
  /** How many lines it has. */
  lines_after?: number;
  /** The changes, first to last. */
  hunks?: Array<Hunk>;
  /** Whether lines are left out because there are too many. */
  cut?: boolean;
};

/** Names of files. */
export type FileList = {
  /** The names, in their order; those of folders end with a slash. */
  names: Array<string>;
};

/** What would happen to a file. */
export type FilePreview = {
  /** Its path, relative to the workspace. */
  path: string;
  /** What would be done to it: `added` comes back, `deleted` goes. */
  kind: FileChangeKind;
  /** Whether somebody else changed it since the session last knew it: that change would be lost. */
  by_others: boolean;
  /** Whether it was changed while a call ran that may change any file, and no file tool wrote it so: the call may have done it, or somebody else meanwhile. */
  unsure?: boolean;
  /** The lines that would come and go; absent where that is not known. */
  lines?: LineCount;
};

/** A file of which changes were put back. */
export type FileReverted = {
  /** Its path, relative to the workspace. */
  path: string;
  /** How many of its changes; absent when all of it was. */
  changes?: number;
};

/** How far putting files back is. */
export type FilesBack = {
  /** Files that are as they should be by now. */
  done: number;
  /** Files that are to be put back. */
  total: number;
};

/** What a folder would switch on by itself, and how that stands. */
export type FolderTrust = {
  /** What it would switch on, for the person who decides; empty when that is nothing. */
  described: string;
  /** The same in a line for each thing: what it is called, and what it runs. */
  names?: string;
  /** What exactly was described: a decision is about that and nothing else. */
  seen: string;
  /** Its parts in a line each, which can be taken or left one by one. */
  parts?: Array<string>;
  /** Whether all of it is on. */
  all_on: boolean;
  /** What is left out, and why. */
  warnings?: Array<string>;
};

/** Where the conversation of a fork comes from. */
export type ForkedFrom = {
  /** The session. */
  session_id: SessionId;
  /** The last event that both have. */
  seq: number;
};

/** A field of a form that an MCP server wants filled in; the title of the question names it. */
export type FormField = {
  /** What the server is called in the settings. */
  server: string;
  /** What an empty answer means, as people know it. */
  default?: string;
};

/** A place where words were found. */
export type FoundPlace = {
  /** The session. */
  session_id: SessionId;
  /** The event; 0 for a title. */
  seq: number;
  /** When it was said; for a title, when the session was last used. */
  time: string;
  /** Who said it. */
  role: FoundRole;
  /** The session's title. */
  title: string;
  /** The session's folder. */
  cwd: string;
  /** The words around it in one line; `…` where something was left out. */
  text: string;
  /** Where in `text` the words stand: the first byte of each and the one after its last. */
  marks: Array<Array<number>>;
};

/** Places where words were found. */
export type FoundPlaces = {
  /** The places. */
  places: Array<FoundPlace>;
  /** The cursor of the page that follows, where there may be more. */
  next?: string;
};

/** Who said what was found. */
export type FoundRole = ("title" | "user" | "neco" | "assistant" | "tool" | "other");

/** Where a piece of a file stands that was given. */
export type GivenPiece = {
  /** The file, relative to the workspace. */
  path: string;
  /** Its first line, counted from one. */
  first_line: number;
  /** Its last line. */
  last_line: number;
};

/** Rules and folders that come with a question, as flags of a run do. */
export type GivenRules = {
  /** What is allowed without asking, such as `bash(git log *)`. */
  allow?: Array<string>;
  /** What is asked about. */
  ask?: Array<string>;
  /** What is refused. */
  deny?: Array<string>;
  /** Folders that are open besides the one worked in. */
  add_dir?: Array<string>;
};

/** An MCP server of one opening. */
export type GivenServer = {
  /** What it is called. */
  name: string;
  /** The server, as settings have it: `{"command": "npx", "args": ["-y", "server"]}`, `{"url": "https://…"}`. */
  server: Json;
};

/** What was given with a person's messages because it fits their words, and what became of it. */
export type GivenUse = {
  /** Messages that something was given with. */
  messages: number;
  /** Tokens of all that was given. */
  tokens: number;
  /** Files of which a piece was given. */
  files: number;
  /** How many of these the agent read or edited afterwards. */
  opened: number;
};

/** Something that a person allowed for a session. */
export type GrantedRule = {
  /** What it allows, in the words of the question that it answered. */
  allows: string;
  /** The agent that it holds for, by name; absent for the root. */
  agent?: string;
};

/** From when on a setting holds that was written. */
export type HoldsFrom = ("turn" | "session" | "window");

/** A moment that hooks can be plugged into, by the name that hook files use for it. */
export type HookEvent = ("SessionStart" | "SessionEnd" | "UserPromptSubmit" | "PreToolUse" | "PermissionRequest" | "PostToolUse" | "PostToolUseFailure" | "Stop" | "SubagentStart" | "SubagentStop" | "PreCompact" | "PostCompact" | "Notification" | "Error");

/** The hooks that run. */
export type HookList = {
  /** The hooks. */
  hooks: Array<HookRow>;
  /** What the folder brings that is not switched on, for a person. */
  note?: string;
  /** What makes the settings unusable; those that are told are the ones that hold all the same. */
  problems?: Array<SettingProblem>;
};

/** What a hook came to. */
export type HookOutcome = ("passed" | "allowed" | "asked" | "blocked" | "stopped" | "failed" | "timed_out" | "cancelled");

/** A hook. */
export type HookRow = {
  /** The moment that it runs at, by its name. */
  event: string;
  /** Which tools, sources or reasons it is for. */
  matcher: string;
  /** The command line. */
  command: string;
  /** The file that it is written in. */
  file: string;
};

/** A hook ran. */
export type HookRun = {
  /** The moment. */
  event: HookEvent;
  /** Its command, in one line. */
  hook: string;
  /** What it came to. */
  outcome: HookOutcome;
  /** How long it took. */
  duration_ms: number;
  /** What the person should read: the hook's own words, or why it failed. */
  message?: string;
  /** The call it was about. */
  call_id?: CallId;
  /** The message it was about. A message that was blocked never enters the conversation. */
  message_id?: MessageId;
};

/** A change of a file, with the lines around it. */
export type Hunk = {
  /** A name for exactly this change, wherever in the file it stands; empty where not all of it is shown, so that it can't be kept or put back by itself. */
  id: string;
  /** Whether a person keeps it. */
  kept?: boolean;
  /** The number that its first line had, from 1. */
  before: number;
  /** The number that its first line has, from 1. */
  after: number;
  /** What it stands in, such as the head of a function. */
  heading?: string;
  /** Its lines. */
  lines: Array<HunkLine>;
};

/** A line of a change. */
export type HunkLine = {
  /** What happened to it. */
  kind: LineChange;
  /** What stands in it, without its end. */
  text: string;
  /** Whether the file ends with it, and without a line break. */
  unended?: boolean;
  /** The words of it that are different, each from and to which UTF-16 unit; none where the whole line is. */
  marks?: Array<Array<number>>;
};

/** What a person has open in an editor. Lines are counted from 1. */
export type IdeContext = {
  /** The file that is worked in; relative to the workspace where it lies inside it. */
  active_file?: string;
  /** The line of the cursor in it. */
  cursor_line?: number;
  /** What is selected in it. */
  selection?: Selection;
  /** Other files that are open. */
  open_files?: Array<string>;
};

/** The events that follow come from a file that another program wrote. */
export type Imported = {
  /** The program, such as `claude-code` or `codex`. */
  from: string;
  /** The file. */
  file: string;
  /** The id that the conversation had there. */
  id?: string;
  /** How many entries of the file have no place here. */
  skipped: number;
};

/** What an input can be. */
export type InputType = ("string" | "number" | "integer" | "boolean" | "string[]" | "number[]" | "integer[]" | "boolean[]" | "array" | "object");

/** The answer to one thing that the model wants to know. */
export type ItemAnswer = {
  /** The labels of the options that were chosen. */
  chosen?: Array<string>;
  /** What the person wrote. */
  text?: string;
};

/** Notes that a person keeps changes of a session, or takes that back. */
export type KeepChanges = {
  /** The session, by the beginning of its id. */
  session?: string;
  /** The folder that is worked in. */
  folder?: string;
  /** The marks of files, and the ids of changes. */
  marks?: Array<string>;
  /** Whether they are kept. */
  kept?: boolean;
  /** What is kept from now on although `marks` are not: the other changes of a file that was kept as a whole. */
  instead?: Array<string>;
};

/** What a person keeps of a session's changes. */
export type KeptChanges = {
  /** The marks of files, and the ids of changes. */
  kept: Array<string>;
};

/** What is kept now. */
export type KeptKey = {
  /** How many keys of the provider are kept. */
  keys: number;
  /** Whether this one was not kept before. */
  new: boolean;
  /** How many it took the place of. */
  replaced: number;
  /** The file of keys. */
  file: string;
  /** The place whose key is sent instead. */
  hidden_by?: Known12;
  /** Whether the provider has a login with a browser. */
  has_login?: boolean;
  /** What the provider said of it, where it was asked and the answer says something. */
  test?: Known13;
  /** What is not as it was meant in the settings. */
  warnings?: Array<string>;
};

/** A rule that is kept for good. */
export type KeptRule = {
  /** Its text in the file. */
  text: string;
  /** What it says, in one line. */
  title: string;
};

/** Rules that are kept for good. */
export type KeptRules = {
  /** The file that they are in. */
  file: string;
  /** The rules, as they stand there. */
  rules: Array<KeptRule>;
};

/** Which providers have keys. */
export type KeyList = {
  /** What each has in each place, the place that counts first in front. */
  keys: Array<KeyRow>;
  /** The file of keys. */
  file: string;
  /** Why that can't be used. */
  problem?: string;
  /** What is not as it was meant in the settings. */
  warnings?: Array<string>;
};

/** One of the places that keys come from. */
export type KeyPlace = ("configuration" | "environment" | "keys file" | "keyring");

/** What one provider has in one place. */
export type KeyRow = {
  /** The provider. */
  provider: string;
  /** The place. */
  source: Known12;
  /** What a person would call it: variables by name, a login as such. */
  names: Array<string>;
  /** How many keys there are. */
  keys: number;
  /** The last characters of each, where they may be shown. */
  endings: Array<(string | null)>;
  /** Whether these keys are the ones that are sent. */
  used: boolean;
  /** Why there is nothing to be seen. */
  problem?: string;
  /** Whether one of them is a login. */
  login?: boolean;
};

/** What came of testing a key that is kept. */
export type KeyTest = ("works" | "unreachable");

/** A value in an answer whose words requests or settings take too, so that they refuse one that they do not know: here such a word is kept as it is. ``` use neco_proto::app::Known; use neco_proto::app::keys::KeyPlace; let read: Vec<Known<KeyPlace>> = serde_json::from_str(r#"["keyring", "vault"]"#)?; assert_eq!(read[0], KeyPlace::Keyring); assert_eq!(read[1].to_string(), "vault"); # Ok::<(), serde_json::Error>(()) ``` */
export type Known10 = (ProviderType | string);

/** A value in an answer whose words requests or settings take too, so that they refuse one that they do not know: here such a word is kept as it is. ``` use neco_proto::app::Known; use neco_proto::app::keys::KeyPlace; let read: Vec<Known<KeyPlace>> = serde_json::from_str(r#"["keyring", "vault"]"#)?; assert_eq!(read[0], KeyPlace::Keyring); assert_eq!(read[1].to_string(), "vault"); # Ok::<(), serde_json::Error>(()) ``` */
export type Known11 = (HoldsFrom | string);

/** A value in an answer whose words requests or settings take too, so that they refuse one that they do not know: here such a word is kept as it is. ``` use neco_proto::app::Known; use neco_proto::app::keys::KeyPlace; let read: Vec<Known<KeyPlace>> = serde_json::from_str(r#"["keyring", "vault"]"#)?; assert_eq!(read[0], KeyPlace::Keyring); assert_eq!(read[1].to_string(), "vault"); # Ok::<(), serde_json::Error>(()) ``` */
export type Known12 = (KeyPlace | string);

/** A value in an answer whose words requests or settings take too, so that they refuse one that they do not know: here such a word is kept as it is. ``` use neco_proto::app::Known; use neco_proto::app::keys::KeyPlace; let read: Vec<Known<KeyPlace>> = serde_json::from_str(r#"["keyring", "vault"]"#)?; assert_eq!(read[0], KeyPlace::Keyring); assert_eq!(read[1].to_string(), "vault"); # Ok::<(), serde_json::Error>(()) ``` */
export type Known13 = (KeyTest | string);

/** A value in an answer whose words requests or settings take too, so that they refuse one that they do not know: here such a word is kept as it is. ``` use neco_proto::app::Known; use neco_proto::app::keys::KeyPlace; let read: Vec<Known<KeyPlace>> = serde_json::from_str(r#"["keyring", "vault"]"#)?; assert_eq!(read[0], KeyPlace::Keyring); assert_eq!(read[1].to_string(), "vault"); # Ok::<(), serde_json::Error>(()) ``` */
export type Known14 = (Scope | string);

/** A value in an answer whose words requests or settings take too, so that they refuse one that they do not know: here such a word is kept as it is. ``` use neco_proto::app::Known; use neco_proto::app::keys::KeyPlace; let read: Vec<Known<KeyPlace>> = serde_json::from_str(r#"["keyring", "vault"]"#)?; assert_eq!(read[0], KeyPlace::Keyring); assert_eq!(read[1].to_string(), "vault"); # Ok::<(), serde_json::Error>(()) ``` */
export type Known5 = (InputType | string);

/** A value in an answer whose words requests or settings take too, so that they refuse one that they do not know: here such a word is kept as it is. ``` use neco_proto::app::Known; use neco_proto::app::keys::KeyPlace; let read: Vec<Known<KeyPlace>> = serde_json::from_str(r#"["keyring", "vault"]"#)?; assert_eq!(read[0], KeyPlace::Keyring); assert_eq!(read[1].to_string(), "vault"); # Ok::<(), serde_json::Error>(()) ``` */
export type Known6 = (MemoryCategory | string);

/** A value in an answer whose words requests or settings take too, so that they refuse one that they do not know: here such a word is kept as it is. ``` use neco_proto::app::Known; use neco_proto::app::keys::KeyPlace; let read: Vec<Known<KeyPlace>> = serde_json::from_str(r#"["keyring", "vault"]"#)?; assert_eq!(read[0], KeyPlace::Keyring); assert_eq!(read[1].to_string(), "vault"); # Ok::<(), serde_json::Error>(()) ``` */
export type Known7 = (MemoryReach | string);

/** A value in an answer whose words requests or settings take too, so that they refuse one that they do not know: here such a word is kept as it is. ``` use neco_proto::app::Known; use neco_proto::app::keys::KeyPlace; let read: Vec<Known<KeyPlace>> = serde_json::from_str(r#"["keyring", "vault"]"#)?; assert_eq!(read[0], KeyPlace::Keyring); assert_eq!(read[1].to_string(), "vault"); # Ok::<(), serde_json::Error>(()) ``` */
export type Known8 = (SidePurpose | string);

/** A value in an answer whose words requests or settings take too, so that they refuse one that they do not know: here such a word is kept as it is. ``` use neco_proto::app::Known; use neco_proto::app::keys::KeyPlace; let read: Vec<Known<KeyPlace>> = serde_json::from_str(r#"["keyring", "vault"]"#)?; assert_eq!(read[0], KeyPlace::Keyring); assert_eq!(read[1].to_string(), "vault"); # Ok::<(), serde_json::Error>(()) ``` */
export type Known9 = (Strategy | string);

/** All that the model knows of one file: what was in it, and how much of that it was shown. */
export type KnownFile = {
  /** Where it lies; relative to the workspace inside it. */
  path: string;
  /** SHA-256 of its content, in hex. */
  sha256: string;
  /** The lines that were shown, in order, each stretch as its first line and the one after its last, from 1; absent when all of it is known. */
  lines?: Array<[number, number]>;
  /** How many lines there are, where only some were shown and that is known. */
  total_lines?: number;
};

/** One layer of what the model is told. The order of the variants is the order in which the model reads them: what changes least comes first, so that prompt caches hit. */
export type Layer = ("base" | "mode" | "generation" | "role" | "rules" | "skills" | "agents" | "memory" | "repo_map" | "files" | "environment" | "summary" | "messages");

/** How much room a layer takes. */
export type LayerSize = {
  /** Which. */
  layer: Layer;
  /** Its tokens. */
  tokens: number;
  /** Its part of everything, in percent. */
  share: number;
  /** What was left out to fit its share, in words. */
  notes?: Array<string>;
};

/** What a layer says. */
export type LayerText = {
  /** Which. */
  layer: Layer;
  /** What it says. */
  text: string;
};

/** A file that is not part of a checkpoint. */
export type LeftOut = {
  /** Its path, relative to the workspace. */
  path: string;
  /** Why not. */
  why: LeftOutWhy;
};

/** Why a file is not part of a checkpoint. */
export type LeftOutWhy = ("ignored" | "too_big" | "secret" | "other");

/** What is said. */
export type Letter = (Up & {
  way: "up";
} | Down & {
  way: "down";
});

/** How bad it is. */
export type Level = ("warning" | "error");

/** What happened to a line. */
export type LineChange = ("same" | "removed" | "added" | "other");

/** Lines that a change adds and removes. ``` use neco_proto::LineCount; let unified = "--- a/b\n+++ b/b\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n+more\n"; assert_eq!(LineCount::of(unified), LineCount { added: 2, removed: 1 }); ``` */
export type LineCount = {
  /** Lines added. */
  added: number;
  /** Lines removed. */
  removed: number;
};

/** Lists the files that are different between two points of a session, as [`DiffSession`](super::history::DiffSession) names points, without their lines. */
export type ListChanges = {
  /** The session, by the beginning of its id. */
  session?: string;
  /** The folder that is worked in. */
  folder?: string;
  /** The earlier point; the first message when none is named. */
  from?: string;
  /** The later point; now when none is named. */
  to?: string;
};

/** A server of this machine that answers. */
export type LocalModels = {
  /** Its provider. */
  provider: string;
  /** Its address, without login and query. */
  base: string;
  /** The models that it serves, as they are written after `provider/`. */
  models: Array<string>;
};

/** How many times as much a call with a long prompt costs. */
export type LongPrompt = {
  /** More input tokens than this. */
  over: number;
  /** For all input, cached or not. */
  input_times: number;
  /** For all output. */
  output_times: number;
};

/** A list of plugins. */
export type MarketplaceRow = {
  /** Its name. */
  name: string;
  /** Where it comes from. */
  source: string;
};

/** What happened to entries of the memory. */
export type MemoryAction = ("recalled" | "stored" | "updated");

/** What kind of thing an entry says. */
export type MemoryCategory = ("preference" | "directory" | "explore_result" | "solution" | "strategy");

/** An entry of the memory without its content. */
export type MemoryEntry = {
  /** What it is called by; no other entry that is seen has it. */
  id: string;
  /** What it is about. */
  title: string;
  /** The same in a sentence or two. */
  summary: string;
  /** Its kind. */
  category: Known6;
  /** What the problem of a solution was about. */
  topic?: string;
  /** Words to find it by. */
  tags: Array<string>;
  /** How far it reaches. */
  scope: Known7;
  /** The folder that it is about, for one of the person's own. */
  directory?: string;
  /** Who wrote it. */
  source: string;
  /** When it was made. */
  created?: string;
  /** When it was last of use. */
  last_used?: string;
  /** How often it was. */
  uses: number;
  /** Its file. */
  path: string;
  /** What is wrong with its file, line by line. */
  troubles: Array<string>;
};

/** Entries of the memory. */
export type MemoryList = {
  /** The entries. */
  entries: Array<MemoryEntry>;
  /** The cursor of the page that follows, where there are more. */
  next?: string;
};

/** An entry of the memory in short. */
export type MemoryNote = {
  /** Its id. */
  id: string;
  /** What it is about. */
  title: string;
  /** How far it reaches. */
  scope: MemoryScope;
  /** The file that holds it. */
  path: string;
};

/** How far an entry reaches, and where it is kept. */
export type MemoryReach = ("global" | "private" | "directory");

/** How far an entry of the memory reaches. */
export type MemoryScope = ("global" | "directory");

/** The memory was changed, or something of it was put before the model. */
export type MemoryUpdate = {
  /** What happened. */
  action: MemoryAction;
  /** The entries it happened to. */
  entries: Array<MemoryNote>;
  /** What the model is told of them from now on; only with `recalled`. */
  text?: string;
};

/** One message of the conversation. */
export type Message = {
  /** Its id. */
  id: MessageId;
  /** Who speaks. */
  role: Role;
  /** What is said, in order. */
  parts: Array<Part>;
  /** `provider/model` that wrote it; only on assistant messages. */
  model?: string;
  /** Who says it in the person's place; only on user messages, and absent in logs that are older than this, where the text tells it. */
  author?: Author;
  /** Who sent it, when it was sent by a command; absent in logs that are older than this. */
  by?: Actor;
  /** What the person says in it, where something else stands between that: only this names files and skills. */
  said?: string;
};

/** One message of the conversation. */
export type MessageId = string;

/** A piece of what a command of the person's own says. */
export type MessagePiece = {
  /** What is said. */
  text: string;
  /** Whether a command line printed it: it holds no secret then, names no file and calls up no skill. */
  printed?: boolean;
};

/** The person said something while the agent works; told again when they take it back. */
export type MessageQueued = {
  /** When it is given to the agent. */
  when: Admission;
  /** What was said. */
  message: Message;
};

/** How much room a message takes. */
export type MessageSize = {
  /** Which. */
  id: MessageId;
  /** Who speaks. */
  role: Role;
  /** Who wrote what stands in it as the person's words. */
  author?: Author;
  /** Its tokens. */
  tokens: number;
  /** Its part of everything, in percent. */
  share: number;
  /** How it begins, in one line. */
  begins: string;
  /** The tools it calls, or whose results it has. */
  tools?: Array<string>;
};

/** What kind of work the agent is here for. */
export type Mode = ("agent" | "plan" | "ask" | "debug");

/** Mode, approval mode, model or generation changed; only what changed is there. */
export type ModeChange = {
  /** The new mode. */
  mode?: Mode;
  /** The new approval mode. */
  approval?: ApprovalMode;
  /** The new model or group. */
  model?: string;
  /** The new generation. */
  generation?: number;
  /** Why the agent itself changed it; absent when a person did. */
  reason?: string;
  /** Who wanted it; absent when it follows from something else, and in logs that are older than this. */
  by?: Actor;
};

/** Everything that is known of one model. */
export type ModelDescription = {
  /** Tokens that fit into one request and its answer. */
  context_window: number;
  /** Most tokens of one answer. */
  max_output: number;
  /** Whether the sizes are known rather than assumed. */
  known: boolean;
  /** Input that is read anew; none when the price is not known. */
  input_price?: number;
  /** Output, thoughts included. */
  output_price?: number;
  /** Input that the vendor had in its cache. */
  cache_read_price?: number;
  /** Input that the vendor put into its cache. */
  cache_write_price?: number;
  /** What long prompts cost more. */
  long_prompt?: LongPrompt;
  /** Whether it sees pictures. */
  vision: boolean;
  /** Whether it can call tools. */
  tools: boolean;
  /** Whether it thinks before it answers. */
  reasoning: boolean;
  /** `provider/model`. */
  name: string;
  /** Its provider. */
  provider: string;
  /** The provider's address, without login and query. */
  base?: string;
  /** The format it is asked in. */
  type: Known10;
  /** What it is asked with, such as `temperature=0`. */
  parameters: Array<string>;
  /** Where its keys come from. */
  key_sources: Array<string>;
  /** The entry of the built-in catalogue. */
  catalogue_entry?: string;
  /** Whether the settings have something laid over that. */
  overridden: boolean;
  /** How it stands, one for each key. */
  states: Array<ModelState>;
  /** Whether it runs on this machine. */
  local?: boolean;
};

/** A group of models. */
export type ModelGroup = {
  /** The models, in order of preference. */
  models: Array<string>;
  /** How one is chosen. */
  strategy: Known9;
};

/** Providers, their models, and groups of these. */
export type ModelList = {
  /** The groups. */
  groups: Record<string, ModelGroup>;
  /** The providers; those that can be asked first. */
  providers: Array<ProviderRow>;
  /** Their models. */
  models: Array<ModelRow>;
  /** How many providers are left out, as they can't be asked. */
  hidden?: number;
  /** What is not as it was meant in the settings. */
  warnings?: Array<string>;
};

/** What there is to choose from. */
export type ModelOffers = {
  /** Servers of this machine that answer. */
  servers: Array<LocalModels>;
  /** Providers elsewhere; those that most people have first. */
  providers: Array<ProviderOffer>;
  /** What is not as it was meant in the settings. */
  warnings?: Array<string>;
};

/** A model call failed and will be tried again. */
export type ModelRetry = {
  /** Which attempt comes next, from 2. */
  attempt: number;
  /** How many attempts there are at most; 0 when nobody said. */
  attempts?: number;
  /** What is tried again: `provider/model`, with the number of the key where there are several. */
  model?: string;
  /** How long is waited before it. */
  wait_ms: number;
  /** Why the last one failed. */
  code: ErrorCode;
  /** The same for a person. */
  message: string;
  /** Whether text and calls streamed so far in this turn are void. */
  discards: boolean;
};

/** A model in a list. */
export type ModelRow = {
  /** Tokens that fit into one request and its answer. */
  context_window: number;
  /** Most tokens of one answer. */
  max_output: number;
  /** Whether the sizes are known rather than assumed. */
  known: boolean;
  /** Input that is read anew; none when the price is not known. */
  input_price?: number;
  /** Output, thoughts included. */
  output_price?: number;
  /** Input that the vendor had in its cache. */
  cache_read_price?: number;
  /** Input that the vendor put into its cache. */
  cache_write_price?: number;
  /** What long prompts cost more. */
  long_prompt?: LongPrompt;
  /** Whether it sees pictures. */
  vision: boolean;
  /** Whether it can call tools. */
  tools: boolean;
  /** Whether it thinks before it answers. */
  reasoning: boolean;
  /** `provider/model`. */
  name: string;
  /** Whether its provider can be asked. */
  usable: boolean;
  /** Whether it is asked first when nobody says otherwise. */
  default: boolean;
};

/** How one key of a model stands. */
export type ModelState = {
  /** `provider/model`, with the number of the key where there are several. */
  name: string;
  /** How it stands. */
  state: Readiness;
  /** Why it can't be asked. */
  reason?: string;
};

/** Another key or another model of the group takes over. */
export type ModelSwitch = {
  /** What failed: `provider/model`, with the number of the key where there are several. */
  from: string;
  /** What is tried next. */
  to: string;
  /** Why. */
  code: ErrorCode;
  /** The same for a person. */
  message: string;
  /** Whether text and calls streamed so far in this turn are void. */
  discards: boolean;
};

/** A setting that is to be written. */
export type NewSetting = {
  /** The dotted key. */
  key: string;
  /** Its value: text, a number, yes or no, or a list of these; null takes the setting out of the file. */
  value: Json;
};

/** A token that was just made. */
export type NewToken = {
  /** The token itself: it is said this once. */
  token: string;
};

/** What came of an agent's task. */
export type NodeResult = ({
  kind: "output";
  /** The output. */
  output: Json;
} | {
  kind: "error";
  /** The stable code, where there is one. */
  code?: ErrorCode;
  /** What happened. */
  message: string;
});

/** What an agent is doing, as its parent sees it. */
export type NodeState = ("created" | "running" | "paused" | "completed" | "failed" | "cancelled");

/** What kind of agent a node is: whom it may create. */
export type NodeType = ("root" | "child" | "act_only");

/** Something the person should know. */
export type Notification = {
  /** How loud. */
  level: NotificationLevel;
  /** What. */
  text: string;
  /** What a window does not have to read the words for. */
  about?: NotificationTopic;
  /** Files that act later without being called and were changed without a question. */
  changed?: ActingChange;
  /** The generation that was taken because it fits the model's window, where nobody chose one. */
  fitted?: number;
};

/** How loud a notification is. */
export type NotificationLevel = ("info" | "warning");

/** What a notification is about, where a window stands otherwise because of it. */
export type NotificationTopic = ("compaction_begins" | "compaction_failed" | "not_kept" | "handed_over");

/** A tool that can be called. */
export type OfferedTool = {
  /** Its name. */
  name: string;
  /** What it does. */
  description: string;
  /** JSON schema of its arguments. */
  schema: Json;
  /** Whether no call of it changes anything. */
  reads_only: boolean;
  /** Whether it reaches the network. */
  network: boolean;
  /** Where it comes from, as rules name it: `built-in`, `mcp:SERVER`, `script:PATH`. */
  origin?: string;
};

/** Opens a session or makes one, with what belongs to this opening and not to the folder that is worked in. */
export type OpenSession = {
  /** Which one. */
  which?: WhichSession;
  /** The folder that is worked in; a session that goes on has its own. */
  folder?: string;
  /** Whether the folder was chosen, and is not just where somebody is. */
  chose_folder?: boolean;
  /** Rules of this opening, and folders that are open in it. */
  given?: GivenRules;
  /** The only folder in which what this loosens holds; everywhere where none is named. */
  loosens_in?: string;
  /** Only these tools exist; empty means all. */
  tools?: Array<string>;
  /** The model or group that is asked for. */
  model?: string;
  /** The mode that is asked for. */
  mode?: Mode;
  /** The generation that is asked for. */
  generation?: number;
  /** When the person is asked. */
  approval?: ApprovalMode;
  /** Most turns for one request. */
  max_turns?: number;
  /** Most US dollars that it may cost. */
  max_cost?: number;
  /** Most tokens that it may use, input and output together. */
  max_tokens?: number;
  /** Who the agent is, for its system prompt; the agent as it comes where nothing is said. */
  role?: string;
  /** A session with the model [`CALLER_MODEL`](super::tools::CALLER_MODEL) that this process has open in the folder, by its id. The new one, which has that model too, is given the same tools: they know the same files and processes. */
  beside?: string;
  /** MCP servers of this opening, besides those of the folder. */
  servers?: Array<GivenServer>;
  /** Settings of this opening, as `-c` has them; they outrank those of files. */
  settings?: Array<string>;
  /** The variables that commands are given, in place of those of the process that opens the session. */
  environment?: Environment;
  /** Whether a person is there. */
  attended?: boolean;
  /** Whether more than a single request is meant. */
  interactive?: boolean;
};

/** A session that was opened, as wires carry it. */
export type Opened = {
  /** The session. */
  id: SessionId;
  /** Where it works. */
  folder: string;
  /** Its last event before: what came of opening it comes after that. */
  since: number;
  /** Whether it was open already: what was said of its model, mode, tools, rules and limits does not hold then. */
  was_open: boolean;
  /** What the person should know. */
  notes?: Array<string>;
};

/** Where something comes from that people can bring along. */
export type Origin = ("built-in" | "yours" | "folder" | "file");

/** Which of a process's outputs. */
export type OutputStream = ("output" | "note");

/** One piece of a message. */
export type Part = ({
  kind: "text";
  /** The text. */
  text: string;
} | {
  kind: "image";
  /** Such as `image/png`. */
  media_type: string;
  /** The file's bytes in base64. */
  data: string;
} | {
  kind: "reasoning";
  /** The readable part; may be empty when the vendor only gives an opaque one. */
  text: string;
  /** What the vendor wants back unchanged: a signature or an encrypted item. */
  opaque?: Json;
} | ToolCall & {
  kind: "tool_call";
} | ToolResult & {
  kind: "tool_result";
});

/** A person decided. */
export type PermissionDecision = {
  /** The call. */
  call_id: CallId;
  /** What was decided. */
  decision: Decision;
  /** Who decided; absent in logs that are older than this. */
  by?: Actor;
};

/** A call waits for a person. */
export type PermissionRequest = {
  /** The call. */
  call_id: CallId;
  /** The tool. */
  tool: string;
  /** Where the tool comes from; absent for what comes with the program. */
  origin?: ToolOrigin;
  /** The call in one line. */
  summary: string;
  /** The arguments as they would run. */
  args: Json;
  /** The command line that would run, for calls that run one. */
  command?: string;
  /** How much harm it could do. */
  risk: Risk;
  /** Why it is asked about, a line for each thing: what it does, what a yes opens, then what else is known of it. */
  reason: string;
  /** The change it would make, where that is known beforehand. */
  diff?: Array<Diff>;
  /** What "for this session" would allow, in words; absent where that is not on offer. */
  session_rule?: string;
  /** The rule that "always" would keep, in words; absent where that is not on offer. */
  always_rule?: string;
  /** The file that "always" would keep that rule in; absent in logs that are older than this, where the rule names it. */
  always_file?: string;
  /** Whether it runs in the sandbox once it is allowed; absent where it runs nothing on this machine, and in logs that are older than this. */
  sandboxed?: boolean;
  /** Whether that sandbox reaches the network; also true of what runs on another machine. */
  network?: boolean;
  /** Whether that sandbox is opened to files that are closed otherwise; the reason names them. */
  opens?: boolean;
  /** The calls of the same turn behind it that will be asked about too, as far as that can be told beforehand. */
  ahead?: Array<AskedAhead>;
};

/** Pieces of files that fit what the person said, as the model was given them with the message before. */
export type PiecesGiven = {
  /** The message that has them. */
  message_id: MessageId;
  /** Where they stand. */
  pieces: Array<GivenPiece>;
  /** Tokens of all of them, as estimated. */
  tokens?: number;
};

/** What is to be known of the folder that a session goes on in. */
export type PlaceNote = ({
  kind: "moved";
  /** Where it was. */
  from: string;
  /** Where it is. */
  folder: string;
} | {
  kind: "removed";
  /** Where it was. */
  folder: string;
} | {
  kind: "made_again";
  /** Where it is. */
  folder: string;
} | {
  kind: "replaced";
  /** Where that is. */
  folder: string;
} | {
  kind: "other";
});

/** A plan. */
export type Plan = {
  /** The plan as it was written, in markdown. */
  text: string;
  /** What became of it. */
  status: PlanStatus;
  /** Its steps, as far as they can be told apart. */
  steps?: Array<PlanStep>;
  /** Whether it is carried out although no person saw it, because none was there. */
  unseen?: boolean;
};

/** What became of a plan. */
export type PlanStatus = ("proposed" | "accepted" | "sent_back" | "dropped" | "finished");

/** A step of a plan. */
export type PlanStep = {
  /** The id of the todo that stands for it. */
  id: string;
  /** What is to be done. */
  text: string;
  /** Whether it is. */
  done: boolean;
};

/** The plan, or what was found out, is another one now. */
export type PlanUpdate = {
  /** The plan, if there is one. */
  plan?: Plan;
  /** All that was found out and is worth keeping, oldest first. */
  findings?: Array<string>;
  /** Who closed it from outside; absent while the agent keeps it. */
  by?: Actor;
};

/** Plugins and lists of them. */
export type PluginList = {
  /** The plugins, by name. */
  plugins: Array<PluginRow>;
  /** The names of the marketplaces, each with where it comes from. */
  marketplaces: Array<MarketplaceRow>;
  /** What is to be said of them. */
  warnings?: Array<string>;
};

/** A plugin. */
export type PluginRow = {
  /** Its name. */
  name: string;
  /** What it is for. */
  description: string;
  /** Its version, as it says. */
  version?: string;
  /** Where it comes from. */
  source: string;
  /** The commit that was taken. */
  commit?: string;
  /** Whether it is on. */
  enabled: boolean;
  /** Whether it counts in the folder: it is on, for that folder, and what was said yes to. */
  active: boolean;
  /** The folders that it is for; everywhere without any. */
  projects?: Array<string>;
  /** Why it does not count although it is on, and what to do about it. */
  off?: string;
  /** Its skills that can't be used, each with why. */
  broken?: Array<Problem>;
};

/** Shows what [`SetSettings`] would write, and writes nothing. */
export type PreviewSettings = {
  /** The folder whose settings they must fit to. */
  folder?: string;
  /** The settings. */
  settings?: Array<NewSetting>;
};

/** Something in a definition that is not as it should be. */
export type Problem = {
  /** The file, as a person writes it. */
  file: string;
  /** The line, from 1. */
  line: number;
  /** How bad it is. */
  level: Level;
  /** What is wrong. */
  message: string;
};

/** Exactly what the model would be told now. */
export type PromptReport = {
  /** How much room it takes. */
  context: ContextReport;
  /** The system prompt, layer by layer; joined by an empty line they are what is sent. */
  system: Array<LayerText>;
  /** The tools. */
  tools: Array<ToolText>;
  /** The conversation, oldest first. */
  messages: Array<Message>;
};

/** A provider that a key opens. */
export type ProviderOffer = {
  /** Its name. */
  name: string;
  /** The variables that would bring a key. */
  variables: Array<string>;
  /** Where its keys come from; none without a key. */
  sources: Array<string>;
};

/** A provider in a list. */
export type ProviderRow = {
  /** Its name. */
  name: string;
  /** What people call it. */
  title?: string;
  /** Whether it can be asked. */
  usable: boolean;
  /** How it stands. */
  standing: ProviderStanding;
};

/** How a provider stands. */
export type ProviderStanding = ({
  kind: "script";
} | {
  kind: "answers";
  /** Where. */
  base: string;
} | {
  kind: "silent";
  /** Where; none when that is not set. */
  base?: string;
} | {
  kind: "key";
  /** Where they come from. */
  sources: Array<string>;
} | {
  kind: "no_key_needed";
  /** Where; none when that is not set. */
  base?: string;
} | {
  kind: "key_missing";
  /** The variables that would bring it. */
  variables: Array<string>;
} | {
  kind: "other";
});

/** Which wire format a provider speaks. */
export type ProviderType = ("openai" | "responses" | "anthropic" | "gemini" | "scripted");

/** A question. */
export type Query = ({
  type: "snapshot";
} | {
  type: "messages";
} | {
  type: "context";
} | {
  type: "prompt";
} | {
  type: "checkpoints";
} | {
  type: "rewind_points";
} | {
  type: "rewind_preview";
  /** The message. */
  message_id: MessageId;
  /** What would go back. */
  what: RewindWhat;
} | {
  type: "checkpoint_preview";
  /** The name of the state, or the beginning of it. */
  rev: string;
} | {
  type: "undo_preview";
} | {
  type: "redo_preview";
} | {
  type: "back_preview";
} | {
  type: "forth_preview";
} | {
  type: "tree";
} | {
  type: "workflows";
} | {
  type: "rules";
} | {
  type: "background";
} | {
  type: "background_output";
  /** The agent that started it. */
  agent_id: AgentId;
  /** What it is called there. */
  name: string;
});

/** The agent asks the person something and waits. */
export type Question = ({
  about: "choices";
  /** What it wants to know, in order. */
  items: Array<QuestionItem>;
} | {
  about: "plan";
  /** The plan, in markdown. */
  plan: string;
} | {
  about: "loop";
  /** What it repeats, in words for the person. */
  text: string;
}) & {
  /** Its id, to be returned with the answer. */
  question_id: QuestionId;
  /** The call that waits for the answer, if one does. */
  call_id?: CallId;
};

/** A person answered a question, or the question is void. */
export type QuestionAnswer = {
  /** The question. */
  question_id: QuestionId;
  /** The answer; absent when the work ended before there was one. */
  reply?: Reply;
  /** Who answered; absent without an answer, and in logs that are older than this. */
  by?: Actor;
};

/** One question to a person. */
export type QuestionId = string;

/** One thing that the model wants to know. */
export type QuestionItem = {
  /** A word or two that name it. */
  title?: string;
  /** The question. */
  text: string;
  /** What can be chosen; empty when any text is an answer. */
  options?: Array<QuestionOption>;
  /** Whether more than one option can be chosen. */
  multiple?: boolean;
  /** What it means to answer with nothing. */
  empty?: EmptyAnswer;
  /** The field of a form that it asks for, where it asks for one. */
  field?: FormField;
};

/** Something that can be chosen. */
export type QuestionOption = {
  /** What it is called. */
  label: string;
  /** What it means. */
  description?: string;
};

/** Reads text of a file of a session's folder, a megabyte at a time at most. What may hold secrets is not read, nor what a rule closes or what lies elsewhere. */
export type ReadText = {
  /** The folder, which a session works in. */
  folder?: string;
  /** The file, from the folder on. */
  path?: string;
  /** The first byte; the first of the file when neither this nor a line is named. */
  start?: number;
  /** The first line, from 1, in place of the first byte. */
  line?: number;
  /** So many lines at most. */
  lines?: number;
};

/** Whether something can be asked. */
export type Readiness = ("ready" | "rests" | "unusable" | "other");

/** A folder that sessions worked in. */
export type RecentFolder = {
  /** The folder. */
  folder: string;
  /** How many sessions it has. */
  sessions: number;
  /** When one of them was last used. */
  updated: string;
  /** What that one is called. */
  title: string;
  /** Whether the folder is there. */
  is_there: boolean;
};

/** Folders that sessions worked in. */
export type RecentFolders = {
  /** The folders, the one used last first. */
  folders: Array<RecentFolder>;
};

/** A person's answer to a [`Question`]. */
export type Reply = ({
  kind: "choices";
  /** The answers. */
  answers: Array<ItemAnswer>;
} | {
  kind: "accept_plan";
  /** When the person is asked from now on; absent means as before. */
  approval?: ApprovalMode;
  /** Something to mind while it is carried out. */
  comments?: string;
} | {
  kind: "accept_changed_plan";
  /** The changed plan. */
  plan: string;
} | {
  kind: "revise_plan";
  /** How. */
  comments: string;
} | {
  kind: "drop_plan";
} | {
  kind: "go_on";
  /** What it should do instead. */
  comments?: string;
} | {
  kind: "dismiss";
});

/** A piece of what a call gave that is more than text, for windows. */
export type ResultPart = ({
  kind: "picture";
  /** Where it is from. */
  source: string;
  /** Such as `image/png`. */
  media_type: string;
} | {
  kind: "link";
  /** The address. */
  uri: string;
  /** What it is called. */
  name: string;
  /** What it is. */
  description?: string;
  /** Such as `text/csv`. */
  media_type?: string;
} | {
  kind: "resource";
  /** The address. */
  uri: string;
  /** Such as `text/csv`. */
  media_type?: string;
  /** The content, if it is text. */
  text?: string;
  /** Its bytes in base64, if it is not. */
  data?: string;
} | {
  kind: "data";
  /** The data. */
  value: Json;
});

/** What of a file is put back as it was. */
export type RevertedFile = {
  /** The file, relative to the workspace. */
  path: string;
  /** The mark of its change as it was shown. */
  mark: string;
  /** The ids of the changes in it; all of the file when none is named. */
  hunks?: Array<string>;
};

/** The conversation, the files or both went back to an earlier point. Nothing is deleted: events between `to` and this one are in the log and no longer count for the conversation. */
export type Rewind = {
  /** The last event that still counts. */
  to: number;
  /** The message that the session went back to before. */
  message_id: MessageId;
  /** Whether the conversation went back. */
  conversation: boolean;
  /** The state that the files were to be put into; absent when they were left alone. */
  files?: string;
  /** The state of the files before that. */
  undo?: string;
  /** The state of the files after that, where some may have been left; absent in logs that are older than this. */
  now?: string;
  /** The rewind that this one takes back. */
  undoes?: number;
  /** The files of which changes were put back, where not all files were; 200 at most. */
  reverted?: Array<FileReverted>;
  /** How many files were put back. */
  changed?: number;
  /** How many of those were deleted, as there were none of them then. */
  deleted?: number;
  /** Whether files were replaced or deleted that somebody else than the session had changed. */
  over_others?: boolean;
  /** Who went back; absent in logs that are older than this. */
  by?: Actor;
};

/** What is gone back to. */
export type RewindKind = ("message" | "checkpoint" | "undo" | "redo");

/** A message that a session can go back to. */
export type RewindPoint = {
  /** Its number among the messages of the person, from 1. */
  number: number;
  /** The message. */
  message_id: MessageId;
  /** Its event. */
  seq: number;
  /** When it was said. */
  ts: string;
  /** What was said. */
  text: string;
  /** How many calls were made because of it, until the next one. */
  calls: number;
  /** Whether files were changed since, as far as checkpoints know. */
  files: boolean;
  /** What was changed because of it, until the next one, as far as edits and checkpoints tell. */
  changed?: ChangedFiles;
};

/** The messages that a session can go back to before. */
export type RewindPoints = {
  /** The session. */
  session_id: SessionId;
  /** The messages. */
  messages: Array<RewindPoint>;
  /** Whether anything was said, also what was gone back over. */
  is_said: boolean;
};

/** What going back would change. */
export type RewindPreview = {
  /** What is gone back to. */
  kind?: RewindKind;
  /** The first words of the message, or what was going on when the state was kept. */
  about?: string;
  /** The message that it goes back to before. */
  message_id: MessageId;
  /** What would go back. */
  what: RewindWhat;
  /** The last event that would still count. */
  to: number;
  /** The messages of the person that would no longer count, oldest first; empty when the conversation stays. */
  messages: Array<RewindPoint>;
  /** Those that would count again, oldest first. */
  again?: Array<RewindPoint>;
  /** The state that the files would be put into; absent when they would stay as they are. */
  rev?: string;
  /** What would happen to files. */
  files: Array<FilePreview>;
  /** Whether files were worked on since the rewind that it takes back: what was done to them goes too. */
  over_work?: boolean;
  /** What a person should know before. */
  notes?: Array<string>;
  /** Commands and calls since then that reached beyond the workspace, oldest first: what they did there stays. */
  not_undone?: Array<string>;
};

/** What goes back to an earlier point. */
export type RewindWhat = ("conversation" | "files" | "both");

/** How much harm a call could do. */
export type Risk = ("safe" | "low" | "medium" | "high" | "critical");

/** Who speaks. */
export type Role = ("user" | "assistant" | "tool");

/** The rules in force. */
export type RuleList = {
  /** The rules. */
  rules: Array<RuleRow>;
  /** Files of rules that are not in force, as the folder is not trusted. */
  untrusted: Array<string>;
  /** What is not as it was meant in settings and rules. */
  warnings?: Array<string>;
};

/** A rule in a list. */
export type RuleRow = {
  /** What it says. */
  decision: Ruling;
  /** Higher ones are looked at first, within a source. */
  priority: number;
  /** Who wrote it. */
  source: RuleSource;
  /** Where it is written. */
  place: string;
  /** What it is called, if it has a name. */
  name?: string;
  /** Why it is there, if it says so. */
  reason?: string;
  /** Which calls it is about. */
  about: string;
};

/** Who wrote a rule; later ones outrank earlier ones. */
export type RuleSource = ("built-in" | "user" | "project" | "command line" | "session");

/** Rules files that the model was told of because it touched their folders. */
export type RulesTold = {
  /** The files, relative to the workspace. */
  files: Array<string>;
  /** Files beside them that were not read, as a notification before said: the model is told that, and not told again. */
  unread?: Array<string>;
};

/** What is to be done with a call. */
export type Ruling = ("allow" | "ask" | "deny");

/** How much of a call its line says. */
export type Says = ("part" | "whole" | "command");

/** What a caller may do. */
export type Scope = ("read" | "work" | "manage");

/** Selected lines. */
export type Selection = {
  /** The first line. */
  first_line: number;
  /** The last line. */
  last_line: number;
  /** The selected text. */
  text: string;
};

/** What a provider serves. */
export type ServedModels = {
  /** The provider; a server that the settings do not have yet is given a name that is free. */
  provider: string;
  /** Its models, as they are written after `provider/`: what it says, or what is known where it does not tell. */
  models: Array<string>;
  /** Whether it tells nobody without a key, or without another one. */
  needs_key: boolean;
  /** Whether nobody listens at the address that was given. */
  silent: boolean;
};

/** The MCP servers of a folder. */
export type ServerList = {
  /** The servers, sorted by name. */
  servers: Array<ServerRow>;
  /** Which are left out, and what else is to be said about their settings. */
  warnings?: Array<string>;
};

/** Lines of the log of an MCP server. */
export type ServerLog = {
  /** The file, as people write it. */
  file: string;
  /** The lines, each with its end. */
  text: string;
};

/** What an MCP server offers, in figures. */
export type ServerOffers = {
  /** The tools of it that agents have. */
  tools: number;
  /** Its prompts. */
  prompts: number;
  /** Its resources, and patterns of them. */
  resources: number;
  /** The version of the protocol that was agreed on. */
  protocol: string;
  /** What it calls itself, with its version. */
  server: string;
};

/** A prompt of an MCP server. */
export type ServerPrompt = {
  /** What the server calls it. */
  name: string;
  /** What it is for. */
  description: string;
  /** What it needs. */
  required: Array<string>;
  /** What it takes besides. */
  optional: Array<string>;
};

/** A resource of an MCP server, or a pattern of addresses. */
export type ServerResource = {
  /** Its address. */
  uri: string;
  /** What it is called. */
  name: string;
  /** What it is. */
  description: string;
};

/** An MCP server. */
export type ServerRow = {
  /** What it is called. */
  name: string;
  /** How it stands. */
  state: ServerState;
  /** Why it failed. */
  error?: string;
  /** How it is reached. */
  transport: ServerTransport;
  /** Its command line or its address, without secrets. */
  in_short: string;
  /** The file that it is written in, as people write it. */
  file: string;
  /** Whether it is started with a session, rather than at its first call. */
  auto_start: boolean;
  /** What it offers, where that is known. */
  offers?: ServerOffers;
  /** What of that is left out, and why. */
  left_out?: Array<string>;
};

/** How an MCP server stands. */
export type ServerState = ("configured" | "known" | "starting" | "running" | "disabled" | "untrusted" | "needs_login" | "failed" | "other");

/** A tool of an MCP server. */
export type ServerTool = {
  /** What agents call it. */
  name: string;
  /** What it does. */
  description: string;
  /** What the server says of its effects, for a person; nobody believes it. */
  hints?: string;
};

/** How much room the declarations of an MCP server's tools take. */
export type ServerToolsSize = {
  /** The server. */
  server: string;
  /** How many there are. */
  count: number;
  /** Their tokens. */
  tokens: number;
};

/** How an MCP server is reached. */
export type ServerTransport = ("stdio" | "http" | "other");

/** The files that are different between two points of a session. */
export type SessionChanges = {
  /** The files by path; none when nothing changed. */
  files: Array<ChangedFile>;
  /** What is to be known of the session's folder. */
  place?: PlaceNote;
};

/** One conversation with its log, tree and workspace. */
export type SessionId = string;

/** Sessions of a list. */
export type SessionPage = {
  /** The sessions. */
  sessions: Array<SessionRow>;
  /** How many more there are. */
  more?: number;
  /** The cursor of the page that follows, where there are more. */
  next?: string;
  /** How many there are that were not used since. */
  older?: number;
  /** The folder above the one that was asked for whose sessions these are, since that has none. */
  above?: string;
};

/** A session in a list. */
export type SessionRow = {
  /** Its id. */
  id: SessionId;
  /** A few words about it; empty until the first message. */
  title: string;
  /** Who made the title; none while there is none. */
  title_by?: TitleSource;
  /** The folder it works in. */
  cwd: string;
  /** When it was made. */
  created: string;
  /** When it was last used. */
  updated: string;
  /** The number of its events, those it has from its parent among them. */
  events: number;
  /** How many messages of yours it has, where that is known. */
  messages?: number;
  /** Whether it was opened for single requests alone, and never in a window. */
  single?: boolean;
  /** Where it was forked from. */
  forked_from?: ForkedFrom;
  /** The bytes that would go with it, where that was asked. */
  bytes?: number;
  /** How it stands, where that was asked. */
  state?: SessionState;
  /** How its last work stands or ended, where that was asked and something was worked on. */
  work?: NodeState;
  /** Whether that work waits for an answer of a person. */
  asks?: boolean;
  /** What it used in all, where that was asked and the end of its log tells it. */
  usage?: Usage;
  /** The branch that it works on, where that was asked and is known. */
  branch?: string;
};

/** What is done in a session without asking because of rules. */
export type SessionRules = {
  /** What the person allowed for this session: the root's first, each agent's oldest first. */
  granted?: Array<GrantedRule>;
  /** How many rules of files, flags and answers allow the root something here. */
  allowing?: number;
  /** Whether the root edits ordinary files of the workspace without asking. */
  edits?: boolean;
};

/** How a session stands. */
export type SessionSnapshot = {
  /** Which session. */
  session_id: SessionId;
  /** Its root agent. */
  root_agent: AgentId;
  /** The last event's position. */
  last_seq: number;
  /** The workspace. */
  cwd: string;
  /** The title that a model or a person gave it last; empty when none did. */
  title?: string;
  /** The model or group the root agent asks. */
  model: string;
  /** The mode. */
  mode: Mode;
  /** The approval mode. */
  approval: ApprovalMode;
  /** What the root agent is doing. */
  state: AgentState;
  /** Used so far. */
  usage: Usage;
  /** Of that, what the session itself asked models for: its title, what is worth remembering. */
  aside?: Usage;
  /** Approvals that wait for a person. */
  pending: Array<PermissionRequest>;
  /** Questions that wait for a person. */
  questions?: Array<Question>;
  /** The generation. */
  generation?: number;
  /** The todo list. */
  todos?: Array<Todo>;
  /** The plan, if there is one. */
  plan?: Plan;
  /** What was found out and is worth keeping. */
  findings?: Array<string>;
  /** The values that all agents share, by key. */
  shared?: Array<SharedStateUpdate>;
  /** Live agents besides the root. */
  agents?: number;
};

/** A session was created or opened again. The agent that this is told of is the root. */
export type SessionStart = {
  /** The version of Neco that wrote it. */
  version: string;
  /** The workspace. */
  cwd: string;
  /** The model or group the root agent asks. */
  model: string;
  /** Whether that model is a script rather than a model. */
  scripted: boolean;
  /** The mode. */
  mode: Mode;
  /** The approval mode. */
  approval: ApprovalMode;
  /** The generation; 0 in logs that are older than generations. */
  generation?: number;
  /** What stands between commands and the machine. */
  sandbox: string;
  /** Whether that is as strong as it is by default: commands are held to the workspace, without the network. */
  usual_sandbox?: boolean;
  /** Whether an earlier conversation goes on. */
  resumed: boolean;
  /** Whether a single request is meant, and no window; absent in logs that are older than this. */
  single?: boolean;
  /** Where the conversation comes from, when it began in another session. */
  forked_from?: ForkedFrom;
};

/** How a session stands. */
export type SessionState = ("open" | "stopped" | "at_rest" | "other");

/** The person stopped the agents of a session: nobody below the root works, and nothing wakes the root until the person says something. */
export type SessionStop = {
  /** Those that worked and are paused now, parents before their children. */
  paused?: Array<AgentId>;
  /** Who stopped them; absent in logs that are older than this. */
  by?: Actor;
};

/** The session has another title. */
export type SessionTitle = {
  /** The title. */
  title: string;
  /** Who made it. */
  by: TitleSource;
};

/** A file of settings. */
export type SettingFile = {
  /** The layer that it is, by its name. */
  layer: string;
  /** Where it is. */
  path: string;
  /** Whether it is there. */
  exists: boolean;
};

/** The files of settings. */
export type SettingFiles = {
  /** The user's own file, whether it exists or not. */
  own: string;
  /** All that are read, later ones over earlier ones. */
  files: Array<SettingFile>;
  /** What makes them unusable. */
  problems?: Array<SettingProblem>;
};

/** The settings that hold. */
export type SettingList = {
  /** Every setting that has a value, sorted by key. */
  settings: Array<SettingRow>;
  /** What is not as it was meant in the settings. */
  warnings?: Array<string>;
  /** What makes the files unusable, each with its place. What is told then is what the open session of this folder works with, or what is left without that. */
  problems?: Array<SettingProblem>;
  /** The settings that have no value. */
  unset?: Array<SettingRow>;
};

/** Something that makes a file of settings unusable. */
export type SettingProblem = {
  /** The place and what is wrong there, for a person. */
  words: string;
  /** The file, where it is one. */
  file?: string;
};

/** A setting. */
export type SettingRow = {
  /** The dotted key. */
  key: string;
  /** The value as TOML; `***` for keys and headers, and for the secrets in addresses and command lines. */
  value: string;
  /** The layer that had the last word, by its name. */
  layer: string;
  /** Where it is written, and before that whose items come before. */
  origins: Array<string>;
  /** What it can be set to, for a person; empty for names that people give themselves. */
  takes?: string;
  /** What it means. */
  meaning?: string;
};

/** What would be written. */
export type SettingsPreview = {
  /** The file, as people write it. */
  file: string;
  /** Whether it is there already. */
  exists: boolean;
  /** What would be different in it, as a unified diff without a head; `***` for what settings are not shown of. Empty where nothing would be. */
  diff: string;
  /** Whether a secret would be another one, which is not shown. */
  hides_change?: boolean;
  /** From when on the settings would hold. */
  from?: Known11;
};

/** A value that all agents of a session share was set or removed. */
export type SharedStateUpdate = {
  /** Its name. */
  key: string;
  /** The value from now on; absent when it was removed. */
  value?: Json;
  /** How often it was set or removed so far, with this time. */
  version: number;
  /** What the agent is called that did it; its id is that of the event. */
  writer: string;
};

/** How a command ended. */
export type ShellEnd = {
  /** Its exit code; none when it was killed. */
  code?: number;
  /** The folder that the commands after it begin in, where it changed that. */
  folder?: string;
  /** Whether it listed files that look empty in its sandbox, as they may hold secrets and it did not name them. */
  masked?: boolean;
};

/** Shows how one file is different between two points of a session, change by change. */
export type ShowChange = {
  /** The session, by the beginning of its id. */
  session?: string;
  /** The folder that is worked in. */
  folder?: string;
  /** The file, relative to the workspace. */
  path?: string;
  /** The earlier point; the first message when none is named. */
  from?: string;
  /** The later point; now when none is named. */
  to?: string;
};

/** Shows what sessions used, by day, model and agent. */
export type ShowUsage = {
  /** The folder that they worked in; all folders when it is empty. */
  folder?: string;
  /** How many days up to today; 30 when nothing is said, 366 at most. */
  days?: number;
};

/** All of an agent. */
export type ShownAgent = {
  /** Its name. */
  name: string;
  /** What it is good for. */
  description: string;
  /** Where it comes from. */
  origin: Origin;
  /** Its file; none for one that comes with the program. */
  file?: string;
  /** Whether it may create agents of its own. */
  type: NodeType;
  /** The group or model that it asks; none for the same as its parent. */
  model?: string;
  /** How freely the model chooses its words. */
  temperature?: number;
  /** Most tokens of one answer. */
  max_output?: number;
  /** Only these tools exist for it; none for the same as its parent. */
  tools?: Array<string>;
  /** These tools do not. */
  disallowed_tools: Array<string>;
  /** The mode it works in, where that is narrower than its parent's. */
  mode?: Mode;
  /** Calls that are refused, as `--deny` is written. */
  deny: Array<string>;
  /** Calls that a person decides about, as `--ask` is written. */
  ask: Array<string>;
  /** Most turns. */
  max_turns?: number;
  /** Seconds that it may take. */
  timeout?: number;
  /** What it and everybody below it may use. */
  budget: SubtreeBudget;
  /** What it is started with, by name. */
  inputs?: Record<string, DeclaredInput>;
  /** What it is told about who it is. */
  prompt: string;
  /** JSON schema of what it must finish with. */
  output_schema?: Json;
  /** The template that makes its task of its inputs. */
  query?: string;
};

/** All of an entry. */
export type ShownMemory = {
  /** What it is called by; no other entry that is seen has it. */
  id: string;
  /** What it is about. */
  title: string;
  /** The same in a sentence or two. */
  summary: string;
  /** Its kind. */
  category: Known6;
  /** What the problem of a solution was about. */
  topic?: string;
  /** Words to find it by. */
  tags: Array<string>;
  /** How far it reaches. */
  scope: Known7;
  /** The folder that it is about, for one of the person's own. */
  directory?: string;
  /** Who wrote it. */
  source: string;
  /** When it was made. */
  created?: string;
  /** When it was last of use. */
  last_used?: string;
  /** How often it was. */
  uses: number;
  /** Its file. */
  path: string;
  /** What is wrong with its file, line by line. */
  troubles: Array<string>;
  /** All there is to know. */
  content: string;
  /** Why its file can't be read, where that is so; there is no content then. */
  unreadable?: string;
};

/** What a name stands for. */
export type ShownModel = {
  /** The name. */
  name: string;
  /** How the group chooses; none for a model. */
  strategy?: Known9;
  /** The models, in the order in which they are asked. */
  models: Array<ModelDescription>;
  /** What is not as it was meant in the settings. */
  warnings?: Array<string>;
};

/** All that a plugin brings. */
export type ShownPlugin = {
  /** Its name. */
  name: string;
  /** What it is for. */
  description: string;
  /** Its version, as it says. */
  version?: string;
  /** Where it comes from. */
  source: string;
  /** The commit that was taken. */
  commit?: string;
  /** Whether it is on. */
  enabled: boolean;
  /** Whether it counts in the folder: it is on, for that folder, and what was said yes to. */
  active: boolean;
  /** The folders that it is for; everywhere without any. */
  projects?: Array<string>;
  /** Why it does not count although it is on, and what to do about it. */
  off?: string;
  /** Its skills that can't be used, each with why. */
  broken?: Array<Problem>;
  /** What it brings. */
  brings: Array<BroughtRow>;
  /** What it is, to the byte: a yes is a yes to this. */
  seen: string;
  /** What is other than in the one of its name that is there, where one is, with the lines of files that changed. */
  changes?: Array<string>;
  /** What is to be said of it. */
  warnings?: Array<string>;
};

/** How a run stands. */
export type ShownRun = {
  /** The run. */
  run: WorkflowRun;
  /** Its tasks; none when its session is gone. */
  graph?: WorkflowGraph;
};

/** What commands run in. */
export type ShownSandbox = {
  /** In a few words, for a person. */
  in_short: string;
  /** What stays open in it. */
  gaps: Array<string>;
  /** Its level, by its name. */
  level?: string;
  /** What makes the settings unusable; what is told holds all the same. */
  problems?: Array<SettingProblem>;
};

/** All of an MCP server. */
export type ShownServer = {
  /** The server. */
  server: ServerRow;
  /** The names of the variables or headers that it is given. */
  given: Array<string>;
  /** The file of its log, as people write it. */
  log: string;
  /** What it says about its use. */
  instructions?: string;
  /** The tools of it that agents have. */
  tools: Array<ServerTool>;
  /** Its prompts. */
  prompts: Array<ServerPrompt>;
  /** Its resources, and patterns of them. */
  resources: Array<ServerResource>;
};

/** All of a skill. */
export type ShownSkill = {
  /** Its name. */
  name: string;
  /** What it is for. */
  description: string;
  /** Whose it is. */
  origin: Origin;
  /** Its file. */
  file: string;
  /** Whether it can be used: one of a folder that is not trusted can't. */
  trusted: boolean;
  /** Whether the person has it switched off. */
  off?: boolean;
  /** What may be written behind its name. */
  argument?: string;
  /** Whether the model uses it by itself. */
  by_model: boolean;
  /** Whether a person can have it used. */
  by_person: boolean;
  /** The file of the skill of the same name that counts in its place. */
  shadowed_by?: string;
  /** Where it was added from. */
  source?: string;
  /** The only calls that are made while it is in use, as rules are written; none for no limit. */
  allowed_tools?: Array<string>;
  /** The model that is asked while it is in use. */
  model?: string;
  /** Who does it, where that is an agent of its own. */
  agent?: string;
  /** Whether it brings hooks. */
  hooks: boolean;
  /** The files beside its text. */
  files: Array<string>;
  /** Its text. */
  text: string;
};

/** What a workflow says. */
export type ShownWorkflow = {
  /** The name it is found by. */
  name: string;
  /** Whose it is. */
  source: Origin;
  /** Its file; none for one that comes with the program. */
  file?: string;
  /** What it is for. */
  description: string;
  /** What it is started with. */
  inputs: Record<string, WorkflowInput>;
  /** Its tasks, none of them begun. */
  tasks: Array<WorkflowTask>;
  /** All of it, as `run_workflow` takes it. */
  definition: Json;
};

/** The session itself asks a model something beside its agents, or is done with that. */
export type SideCall = {
  /** What for. */
  purpose: SidePurpose;
  /** Whether it is under way; `false` when it is over, whatever came of it. */
  running: boolean;
};

/** What a session asks a model for beside its agents. */
export type SidePurpose = ("title" | "memory" | "rerank" | "sampling");

/** Who brought a skill in. */
export type SkillCause = ("person" | "model" | "words" | "definition");

/** Skills, and those that can't be used. */
export type SkillList = {
  /** The skills, those that count first. */
  skills: Array<SkillRow>;
  /** Those that can't be used, each with why. */
  broken?: Array<Problem>;
  /** What is to be said of folders that were not looked through. */
  warnings?: Array<string>;
};

/** A skill, without its text. */
export type SkillRow = {
  /** Its name. */
  name: string;
  /** What it is for. */
  description: string;
  /** Whose it is. */
  origin: Origin;
  /** Its file. */
  file: string;
  /** Whether it can be used: one of a folder that is not trusted can't. */
  trusted: boolean;
  /** Whether the person has it switched off. */
  off?: boolean;
  /** What may be written behind its name. */
  argument?: string;
  /** Whether the model uses it by itself. */
  by_model: boolean;
  /** Whether a person can have it used. */
  by_person: boolean;
  /** The file of the skill of the same name that counts in its place. */
  shadowed_by?: string;
  /** Where it was added from. */
  source?: string;
};

/** A skill was brought into the conversation. */
export type SkillUsed = {
  /** Its name. */
  name: string;
  /** Its file. */
  file: string;
  /** Who brought it in. */
  cause: SkillCause;
};

/** The loop went from one state to another. */
export type StateChange = {
  /** Before. */
  from: AgentState;
  /** After. */
  to: AgentState;
  /** The iteration it happened in. */
  iteration: number;
};

/** How a group chooses. */
export type Strategy = ("round_robin" | "first" | "cheapest");

/** A piece of text. */
export type StreamChunk = {
  /** The text. */
  text: string;
};

/** What an agent and everybody below it may use. */
export type SubtreeBudget = {
  /** Input and output tokens together. */
  tokens?: number;
  /** US dollars, as far as prices are known. */
  cost?: number;
};

/** What does a task. */
export type TaskKind = ("agent" | "tool" | "command");

/** How far a task is. */
export type TaskState = ("pending" | "ready" | "running" | "completed" | "failed" | "cancelled" | "skipped");

/** What came of a question. */
export type TestedModel = {
  /** `provider/model`, with the number of the key where there are several. */
  name: string;
  /** Whether it can be worked with. */
  ok: boolean;
  /** Why not. */
  problem?: string;
  /** What kind of failure that was, when the question failed. */
  code?: ErrorCode;
  /** How long until the first piece of the answer came. */
  first_byte_ms?: number;
  /** How long the answer took in all; none when nothing could be asked. */
  duration_ms?: number;
  /** Output tokens a second from the first piece on. */
  tokens_per_second?: number;
  /** What the vendor counted. */
  usage?: Usage;
  /** Whether it called the tool as it was told; none when it was given none. */
  called_tool?: boolean;
};

/** What came of the questions. */
export type TestedModels = {
  /** The model or group. */
  name: string;
  /** What came of each. */
  models: Array<TestedModel>;
};

/** What came of the test of an MCP server. */
export type TestedServer = {
  /** The server. */
  server: ServerRow;
  /** Whether it answered. */
  ok: boolean;
  /** Why not. */
  problem?: string;
  /** Milliseconds until it had said what it offers, or failed. */
  duration_ms: number;
  /** The tools of it that agents have, as they call them. */
  tools: Array<string>;
};

/** A piece of a text. */
export type TextPiece = {
  /** The text: whole lines, unless one is longer than a piece; `[redacted: …]` stands for what looks like a secret. Nothing where it is no text. */
  text: string;
  /** Whether the file is no text. */
  binary?: boolean;
  /** The number of the first line of the piece, from 1. */
  line: number;
  /** Where in the file the piece begins, in bytes. */
  start: number;
  /** Where it ends: what follows begins there. */
  end: number;
  /** How many bytes the file has. */
  total: number;
};

/** Who made a title. A later one in this list is never replaced by an earlier one. */
export type TitleSource = ("first_words" | "model" | "person");

/** One thing to do. */
export type Todo = {
  /** Unique in the list. */
  id: string;
  /** What is to be done. */
  text: string;
  /** How it stands. */
  status: TodoStatus;
  /** The todo that it is a part of. */
  parent?: string;
};

/** How a todo stands. */
export type TodoStatus = ("pending" | "in_progress" | "completed" | "cancelled");

/** The todo list is another one now. */
export type TodoUpdate = {
  /** The whole list. */
  todos: Array<Todo>;
};

/** The tokens that have names. */
export type TokenList = {
  /** In the order in which they were made. */
  tokens: Array<TokenRow>;
};

/** A token with a name. */
export type TokenRow = {
  /** What it is called. */
  name: string;
  /** The most that whoever has it may do. */
  scope: Known14;
};

/** A call the model asks for. */
export type ToolCall = {
  /** Unique in the session. */
  id: CallId;
  /** The tool's name as the model wrote it. */
  name: string;
  /** The arguments exactly as the model wrote them; valid JSON or not. */
  arguments: string;
  /** What the vendor wants back unchanged with the call. */
  opaque?: Json;
};

/** The model wrote a part of a call's arguments. */
export type ToolCallDelta = {
  /** The call. */
  call_id: CallId;
  /** The next piece of the arguments' JSON text. */
  partial_args: string;
};

/** A call is over. */
export type ToolCallEnd = {
  /** The call. */
  call_id: CallId;
  /** The tool's own name. */
  tool: string;
  /** Where the tool comes from; absent for what comes with the program. */
  origin?: ToolOrigin;
  /** The call in one line. */
  summary: string;
  /** `success`, `error` or `cancelled`. */
  status: CallStatus;
  /** The text that the model gets. */
  output: string;
  /** What it gave that is more than text. */
  parts?: Array<ResultPart>;
  /** Why it failed; absent on success. */
  error_code?: ErrorCode;
  /** What `output` advises the model alone to do, behind a semicolon: people are shown the error without it. Absent in older logs, which show it whole. */
  advice?: string;
  /** The agent that it started, by its name: it goes on by itself, or has ended with the call. Absent in older logs. */
  agent?: string;
  /** How long it ran. */
  duration_ms: number;
  /** What the person sees. */
  display?: Display;
  /** The file that holds all of an output that was too big, readable with `read_file`. */
  spilled_to?: string;
  /** What the model knows of files by this call, so that a session that goes on need not read them again. */
  known?: Array<KnownFile>;
};

/** The model begins to write a tool call. */
export type ToolCallStart = {
  /** Position among the calls of this turn. */
  index: number;
  /** The id the call will keep. */
  call_id: CallId;
  /** The tool's own name, as in every later event of the call; what the model wrote where there is no such tool. */
  name: string;
};

/** A call went from one state to another. */
export type ToolCallUpdate = {
  /** The call. */
  call_id: CallId;
  /** The tool's own name, aliases resolved. */
  tool: string;
  /** Where the tool comes from; absent for what comes with the program. */
  origin?: ToolOrigin;
  /** Its new state. */
  status: CallStatus;
  /** The call in one line, such as `Edit src/a.rs`. */
  summary: string;
};

/** The tools of a folder. */
export type ToolList = {
  /** The tools, in the order in which models are told of them. */
  tools: Array<OfferedTool>;
};

/** Where a tool comes from: rules, hooks and windows can name it. */
export type ToolOrigin = ({
  kind: "built_in";
} | {
  kind: "mcp";
  /** What the server is called in the settings. */
  server: string;
} | {
  kind: "plugin";
  /** What the plugin is called. */
  name: string;
} | {
  kind: "script";
  /** Where that lies. */
  path: string;
} | {
  kind: "editor";
});

/** A running tool printed something. */
export type ToolOutputChunk = {
  /** The call. */
  call_id: CallId;
  /** Where it came from. */
  stream: OutputStream;
  /** The text. */
  text: string;
};

/** What a call gave, as the model reads it. */
export type ToolResult = {
  /** The call it answers. */
  call_id: CallId;
  /** The text for the model. */
  output: string;
  /** Why it failed; absent on success. */
  error_code?: ErrorCode;
};

/** A tool as the model is told about it. */
export type ToolText = {
  /** Its name. */
  name: string;
  /** What it does. */
  description: string;
  /** JSON schema of its arguments. */
  schema: Json;
  /** Its tokens. */
  tokens: number;
};

/** How much room the declarations of tools take. */
export type ToolsSize = {
  /** How many there are. */
  count: number;
  /** Their tokens. */
  tokens: number;
  /** Tools that the model has besides and is told of in a line each; their tokens are part of the others'. */
  catalogue?: Array<string>;
  /** Those of them that MCP servers bring, by the names of the servers. */
  servers?: Array<ServerToolsSize>;
};

/** The arguments of a call as the model has them from now on. */
export type TrimmedArguments = {
  /** The call. */
  call_id: CallId;
  /** What stands in place of its arguments: one line, an object in JSON. */
  arguments: string;
};

/** The output of a call as the model has it from now on. */
export type TrimmedOutput = {
  /** The call. */
  call_id: CallId;
  /** What stands in place of its output. */
  output: string;
};

/** The folders that something was decided about. */
export type TrustList = {
  /** The folders. */
  folders: Array<TrustRow>;
};

/** A folder that something was decided about. */
export type TrustRow = {
  /** The folder. */
  path: string;
  /** What was decided. */
  state: TrustState;
};

/** What was decided about a folder. */
export type TrustState = ("trusted" | "not trusted" | "gone" | "other");

/** An iteration of the loop is over. */
export type TurnEnd = {
  /** The same as in its `turn_start`. */
  iteration: number;
};

/** One iteration of an agent's loop: a model call and the tool calls it asked for. */
export type TurnId = string;

/** An iteration of the loop begins. */
export type TurnStart = {
  /** From 1, counted since the last user message. */
  iteration: number;
  /** The model or group that is asked. */
  model: string;
};

/** What a child says to its parent. */
export type Up = ({
  kind: "report";
  /** From 0 to 1. */
  progress: number;
  /** In words. */
  message: string;
} | {
  kind: "question";
  /** What it wants to know. */
  text: string;
} | {
  kind: "ended";
  /** What came of it. */
  result: NodeResult;
} | {
  kind: "stopped";
  /** In words. */
  why: string;
  /** Whether the parent need not begin because of it: a person ended it, and the parent hears of it when it works next. */
  quiet?: boolean;
});

/** What one or more model calls used. */
export type Usage = {
  /** All input tokens, cached ones included. */
  input: number;
  /** All output tokens, reasoning included. */
  output: number;
  /** The part of `input` that was read from the vendor's cache. */
  cache_read?: number;
  /** The part of `input` that was written to the vendor's cache. */
  cache_write?: number;
  /** The part of `output` that was reasoning. */
  reasoning?: number;
  /** US dollars; absent when the price of the model is not known. */
  cost?: number;
  /** How many of those calls have no known price, so that `cost` leaves them out. */
  unpriced?: number;
};

/** A model call used tokens. */
export type UsageEvent = {
  /** `provider/model` that answered. */
  model: string;
  /** All input tokens, cached ones included. */
  input: number;
  /** All output tokens, reasoning included. */
  output: number;
  /** The part of `input` that was read from the vendor's cache. */
  cache_read?: number;
  /** The part of `input` that was written to the vendor's cache. */
  cache_write?: number;
  /** The part of `output` that was reasoning. */
  reasoning?: number;
  /** US dollars; absent when the price of the model is not known. */
  cost?: number;
  /** How many of those calls have no known price, so that `cost` leaves them out. */
  unpriced?: number;
  /** Tokens that fit into one request and its answer; absent when that is not known. What the conversation takes of them is `input` and `output` together. */
  context_window?: number;
  /** What it was asked for beside the conversation; absent when an agent asked. */
  aside?: SidePurpose;
};

/** What sessions used. */
export type UsageReport = {
  /** The first day that is looked at, such as `2026-03-01`, by the clock of the machine that answers. */
  from: string;
  /** The last one. */
  to: string;
  /** What was used, one row for each day, model and agent, by day; days without use have none. */
  rows: Array<UsageRow>;
  /** All rows together. */
  total: Usage;
  /** How many sessions used something. */
  sessions: number;
  /** Whether older sessions were left out because looking at them takes too long; asking again goes on with them. */
  cut?: boolean;
};

/** What was used on a day, of a model, by an agent. */
export type UsageRow = {
  /** The day, such as `2026-03-01`. */
  day: string;
  /** The model, `provider/model`. */
  model: string;
  /** The role of the agent that asked, such as `root` or `coder`; absent where the session itself asked. */
  agent?: string;
  /** What the session itself asked for beside its agents. */
  aside?: Known8;
  /** How often the model was asked. */
  calls: number;
  /** What that used. */
  usage: Usage;
};

/** Which session is meant. */
export type WhichSession = ("new" | "latest" | {
  id: string;
});

/** A workflow in a list. */
export type WorkflowEntry = {
  /** The name it is found by. */
  name: string;
  /** Whose it is. */
  source: Origin;
  /** Its file; none for one that comes with the program. */
  file?: string;
  /** What it is for; none when it can't be used. */
  description?: string;
  /** How many tasks it has; none when it can't be used. */
  tasks?: number;
  /** Why it can't be used. */
  error?: string;
};

/** A workflow with all its tasks, as a window draws it. */
export type WorkflowGraph = {
  /** Which one. */
  workflow_id: WorkflowId;
  /** Its name. */
  name: string;
  /** How it stands. */
  state: WorkflowState;
  /** What happens when a task fails. */
  strategy: string;
  /** All tasks, in the order in which they are written. */
  tasks: Array<WorkflowTask>;
  /** What it was started with. */
  inputs?: Json;
};

/** One run of a workflow. */
export type WorkflowId = string;

/** Something a workflow is started with. */
export type WorkflowInput = {
  /** What it is. */
  description: string;
  /** Its value when none is given. */
  default?: Json;
};

/** Workflows, and the runs of them. */
export type WorkflowList = {
  /** The workflows. */
  workflows: Array<WorkflowEntry>;
  /** The runs, the newest first. */
  runs: Array<WorkflowRun>;
  /** The cursor of the page of runs that follows, where there are more. */
  next?: string;
};

/** What a workflow is told to do. */
export type WorkflowOrder = ("cancel" | "resume");

/** A run of a workflow, as it is listed. */
export type WorkflowRun = {
  /** Which one. */
  workflow_id: WorkflowId;
  /** The workflow's name. */
  name: string;
  /** The session it runs in. */
  session: SessionId;
  /** Where that works. */
  cwd: string;
  /** How it stood last. */
  state: WorkflowState;
  /** When it began, in milliseconds since 1970. */
  began_ms: number;
  /** When that was noted. */
  changed_ms: number;
};

/** How a workflow stands. */
export type WorkflowState = ("running" | "interrupted" | "completed" | "partly" | "failed" | "cancelled");

/** One task of a workflow. */
export type WorkflowTask = {
  /** Its name in the workflow. */
  id: string;
  /** What does it. */
  kind: TaskKind;
  /** How far it is. */
  state: TaskState;
  /** The tasks that must be completed before it. */
  needs?: Array<string>;
  /** The agent that does it. */
  agent_id?: AgentId;
  /** When its last try began. */
  started?: string;
  /** When it was over. */
  ended?: string;
  /** How often it was tried. */
  attempts?: number;
  /** Why it failed. */
  error?: string;
  /** What came of it. */
  output?: Json;
};

/** A workflow began, ended, or tasks of it went on. */
export type WorkflowUpdate = {
  /** Which one. */
  workflow_id: WorkflowId;
  /** Its name. */
  name: string;
  /** How it stands. */
  state: WorkflowState;
  /** What happens when a task fails: `fail_fast`, `continue` or `retry_then_continue`. */
  strategy: string;
  /** All tasks at the start, then those that changed. */
  tasks: Array<WorkflowTask>;
  /** All of it, once, at the start, so that no file is needed to go on with it. */
  definition?: Json;
  /** What it was started with, at the start. */
  inputs?: Json;
  /** Who stopped it for good, when somebody did. */
  by?: Actor;
};

/** Where something was written about an MCP server, and how that stands now. */
export type WrittenServer = {
  /** The file, as people write it. */
  file: string;
  /** The server of that name that there is now; none where it is gone or left out. */
  server?: ServerRow;
  /** Which servers are left out, and what else is to be said about their settings. */
  warnings?: Array<string>;
};

/** Where settings were written. */
export type WrittenSettings = {
  /** The file, as people write it. */
  file: string;
  /** From when on they hold. */
  from?: Known11;
};
