//! A call: one line, and what came of it below where that is worth it.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { type BlockOf, type Call, clean, isOver, REFUSED, withoutMarks } from "../fold";
import { CopyButton, Diff, Glyph, Icon, type Shape, type Tone } from "../parts";
import { toolsOf, useBlock, useIsLive, useSession, useSlices } from "../wire";
import { useFormat, useWords, type Words } from "../words";
import { looks, purposeOf, told } from "./call-words";
import { Ticking } from "./ticking";
import { Track } from "./track-line";

const REJECTED = 1006;
const INTERRUPTED = 1010;

/** Lines of an output that are shown before somebody unfolds it. */
const LINES = 12;

type Look = { shape: Shape; tone: Tone; label: string };

export function CallRow({ block, first, last }: { block: BlockOf<"call">; first: boolean; last: boolean }) {
  useBlock(block);
  const words = useWords();
  const call = block.data;
  const look = lookOf(call, words);
  const body = bodyOf(call);
  const [choice, setChoice] = useState<boolean>();
  const isUnfolded = choice ?? body?.isOpen ?? false;
  const verbs = words.call.verbs[told(call).verb];
  const { object } = told(call);
  const verb = verbs[tenseOf(call)];
  const line = (
    <>
      <Verb tool={call.tool}>{verb}</Verb>
      <span className="what mono cut">{clean(object ?? call.summary).replaceAll("\n", " ⏎ ")}</span>
      <Said call={call} />
      <span className="end">
        <End call={call} />
        {body !== undefined && <Icon name={isUnfolded ? "down" : "right"} small />}
      </span>
    </>
  );
  return (
    <Track at_ms={block.at_ms} first={first} last={last} node={<Glyph {...look} />} isVoid={block.void}>
      <div className="call-line">
        {body === undefined ? (
          <div className="call" title={call.summary}>
            {line}
          </div>
        ) : (
          <button
            type="button"
            className="call"
            title={call.summary}
            aria-expanded={isUnfolded}
            onClick={() => setChoice(!isUnfolded)}
          >
            {line}
          </button>
        )}
        {call.end?.error_code !== undefined && !isRefused(call) && block.void !== true && <RetryButton call={call} />}
      </div>
      {body !== undefined && isUnfolded && <Body body={body} block={block} />}
    </Track>
  );
}

/** What a call does; what its tool is for is told when somebody points at it. */
function Verb({ tool, children }: { tool: string; children: string }) {
  const { view } = useSession();
  const [isPointed, setPointed] = useState(false);
  const { cwd } = view.standing;
  const { data } = useQuery({
    queryKey: ["tools", cwd],
    queryFn: () => toolsOf(cwd),
    enabled: isPointed && cwd !== "",
    staleTime: Number.POSITIVE_INFINITY,
  });
  const purpose = data?.tools.find(({ name }) => name === tool)?.description;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: what is said of it stands in the title
    <b title={purpose === undefined ? tool : purposeOf(tool, purpose)} onMouseEnter={() => setPointed(true)}>
      {children}
    </b>
  );
}

/** Runs the same once more, judged anew; while the agent works it can't be. */
function RetryButton({ call }: { call: Call }) {
  const words = useWords();
  const session = useSession();
  const view = useSlices("standing");
  const isLive = useIsLive();
  const [trouble, setTrouble] = useState<string>();
  const works = !view.over && view.standing.since_ms !== undefined;
  const off = !isLive ? words.call.retryOffline : works ? words.call.retryLater : undefined;
  return (
    <>
      {trouble !== undefined && (
        <span className="del small cut" role="alert" title={trouble}>
          {trouble}
        </span>
      )}
      <button
        type="button"
        className="btn small ghost again"
        disabled={off !== undefined}
        title={off ?? words.call.retryWhat}
        onClick={() => {
          setTrouble(undefined);
          session
            .send({ type: "retry_call", call_id: call.call_id })
            .catch((problem: unknown) => setTrouble(problem instanceof Error ? problem.message : String(problem)));
        }}
      >
        <Icon name="retry" small />
        {words.call.retry}
      </button>
    </>
  );
}

/** Leads to a file in the changes of the session. */
function ToChanges({ path }: { path: string }) {
  const words = useWords();
  const { id } = useSession();
  return (
    <Link
      className="btn small ghost icon to-changes"
      href={`/s/${id}/changes?file=${encodeURIComponent(path)}`}
      aria-label={words.call.toChanges(path)}
      title={words.call.toChanges(path)}
    >
      <Icon name="diff" small />
    </Link>
  );
}

/** The code that a command ended with, where that says that it failed. */
function exitOf(call: Call): number | undefined {
  const display = call.end?.display;
  return display?.kind === "terminal" && display.exit_code !== 0 ? display.exit_code : undefined;
}

/** Whether it was run and failed, so that it may be tried again. */
function hasFailed(call: Call): boolean {
  return exitOf(call) !== undefined || (call.status === "error" && !isRefused(call));
}

function isRefused(call: Call): boolean {
  return call.end?.error_code !== undefined && REFUSED.includes(call.end.error_code);
}

/** How it is told: what was stopped was wanted, and is not known to be done. */
function tenseOf(call: Call): "will" | "does" | "did" | "not" {
  if (isRefused(call)) return "not";
  if (call.status === "cancelled" || call.end?.error_code === INTERRUPTED) return "will";
  if (isOver(call)) return "did";
  return call.status === "executing" ? "does" : "will";
}

function lookOf(call: Call, words: Words): Look {
  switch (call.status) {
    case "validating":
      return call.arguments === undefined
        ? { shape: "wait", tone: "plan", label: words.call.writing }
        : { shape: "wait", tone: "wait", label: words.call.checking };
    case "scheduled":
      return { shape: "wait", tone: "wait", label: words.call.scheduled };
    case "awaiting_approval":
      return { shape: "ask", tone: "ask", label: words.call.waits };
    case "executing":
      return { shape: "run", tone: "run", label: words.call.verbs.run.does };
    case "success":
      // A command that failed was run as it should: to the person it failed all the same.
      return exitOf(call) === undefined
        ? { shape: "done", tone: "done", label: words.block.agentState.completed }
        : { shape: "fail", tone: "fail", label: words.call.failed };
    case "cancelled":
      return { shape: "off", tone: "off", label: words.call.stopped };
    case "error":
      if (isRefused(call)) return { shape: "no", tone: "off", label: words.call.refused };
      if (call.end?.error_code === INTERRUPTED) return { shape: "off", tone: "off", label: words.call.unknown };
      return { shape: "fail", tone: "fail", label: words.call.failed };
  }
}

/** What is said behind the object: why not, or what the arguments are while they come. */
function Said({ call }: { call: Call }) {
  const { view } = useSession();
  const code = call.end?.error_code;
  if (code === REJECTED) {
    const decision = view.approvals.get(call.call_id)?.data.decision;
    const reason = decision?.kind === "reject" ? decision.reason : undefined;
    return reason === undefined ? null : <span className="dim cut small">“{reason}”</span>;
  }
  const display = call.end?.display;
  if (display?.kind === "list") return <span className="dim cut small">{display.title}</span>;
  return null;
}

function End({ call }: { call: Call }) {
  const words = useWords();
  const format = useFormat();
  const { view } = useSession();
  const { end } = call;
  const place = view.together.get(call.call_id);
  const among = place && <span className="dim wide">{words.asked.ofMany(...place)}</span>;
  switch (call.status) {
    case "validating":
      return call.arguments === undefined ? words.call.writing : words.call.checking;
    case "scheduled":
      return words.call.scheduled;
    case "awaiting_approval":
      return <span className="ask">{words.call.waits}</span>;
    case "executing":
      return (
        <>
          {among}
          <Ticking since_ms={call.started_ms} />
        </>
      );
    case "cancelled":
      return words.call.stopped;
    case "error":
      if (end?.error_code === REJECTED) return words.call.youSaidNo;
      if (isRefused(call)) return words.call.refused;
      if (end?.error_code === INTERRUPTED) return words.call.unknown;
      break;
    case "success":
  }
  if (end === undefined) return null;
  const { display } = end;
  const exit = exitOf(call);
  const facts = [
    display?.kind === "list" ? words.call.items(display.total) : "",
    display?.kind === "terminal" && display.background !== undefined ? words.call.background(display.background) : "",
    exit === undefined ? "" : words.call.exit(exit),
    end.duration_ms > 0 ? format.duration(end.duration_ms) : "",
  ];
  return (
    <>
      {among}
      {display?.kind === "diff" && <Count files={display.files} />}
      <span>{facts.filter(Boolean).join(" · ")}</span>
    </>
  );
}

function Count({ files }: { files: readonly { added: number; removed: number }[] }) {
  const added = files.reduce((sum, file) => sum + file.added, 0);
  const removed = files.reduce((sum, file) => sum + file.removed, 0);
  return (
    <>
      {added > 0 && <span className="plus">+{added}</span>}
      {removed > 0 && <span className="minus">−{removed}</span>}
    </>
  );
}

type BodyOf =
  | {
      kind: "diff";
      files: readonly { path: string; unified: string; created: boolean; deleted?: boolean }[];
      isOpen: boolean;
    }
  | { kind: "text"; text: string; isOpen: boolean; tail?: boolean }
  | { kind: "list"; items: readonly string[]; isOpen: boolean };

/** What there is to see of a call besides its line, and whether it is seen unasked. */
function bodyOf(call: Call): BodyOf | undefined {
  const { end } = call;
  if (end === undefined) {
    return call.printed === "" ? undefined : { kind: "text", text: clean(call.printed), isOpen: true, tail: true };
  }
  const { display } = end;
  const failed = hasFailed(call);
  if (display?.kind === "diff" && display.files.length > 0) return { kind: "diff", files: display.files, isOpen: true };
  if (display?.kind === "terminal") {
    const text = clean(display.tail).trimEnd();
    return text === "" ? undefined : { kind: "text", text, isOpen: failed, tail: true };
  }
  if (display?.kind === "list" && display.items.length > 0)
    return { kind: "list", items: display.items, isOpen: false };
  if (display?.kind === "text" && display.text.trim() !== "") {
    return { kind: "text", text: clean(display.text).trimEnd(), isOpen: failed };
  }
  const text = clean(withoutMarks(end.output)).trimEnd();
  if (isRefused(call)) return undefined;
  if (text === "" || (looks(call.tool) !== undefined && !failed && call.tool !== "read_file")) return undefined;
  return { kind: "text", text, isOpen: failed };
}

function Body({ body, block }: { body: BodyOf; block: BlockOf<"call"> }) {
  switch (body.kind) {
    case "diff":
      return body.files.map((file) => (
        <div key={file.path} className="well">
          {(body.files.length > 1 || file.created || file.deleted) && <FileHead file={file} />}
          <ToChanges path={file.path} />
          <Diff unified={file.unified} path={file.path} />
        </div>
      ));
    case "list":
      return (
        <div className="well">
          <Output text={body.items.join("\n")} />
        </div>
      );
    case "text":
      return (
        <div className="well">
          <Output text={body.text} tail={body.tail} key={block.data.end === undefined ? "now" : "then"} />
        </div>
      );
  }
}

function FileHead({ file }: { file: { path: string; created: boolean; deleted?: boolean } }) {
  const words = useWords();
  return (
    <header>
      <Icon name={file.created ? "plus" : "pen"} small />
      <span className="mono cut">{file.path}</span>
      <span className="dim">{file.created ? words.call.created : file.deleted ? words.call.deleted : ""}</span>
    </header>
  );
}

/** A text of a tool: its end or its beginning, and all of it when somebody wants that. */
function Output({ text, tail }: { text: string; tail?: boolean }) {
  const words = useWords();
  const [isWhole, setWhole] = useState(false);
  const lines = text.split("\n");
  const hidden = lines.length - LINES;
  const folds = hidden > 3;
  const shown = !folds || isWhole ? lines : tail ? lines.slice(-LINES) : lines.slice(0, LINES);
  const fold = folds && (
    <button type="button" className="fold" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
      <Icon name={isWhole === Boolean(tail) ? "down" : "up"} small />
      {isWhole ? words.call.fewerLines : words.call.moreLines(hidden)}
    </button>
  );
  return (
    <div className="output">
      {tail && fold}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard */}
      <pre className="out" tabIndex={0}>
        {shown.join("\n")}
      </pre>
      {!tail && fold}
      <span className="over">
        <CopyButton text={text} />
      </span>
    </div>
  );
}
