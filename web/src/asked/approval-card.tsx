//! Whether a call may run: the whole command or change, why it is asked, what it runs in, and what a longer yes would allow.

import { useEffect, useRef, useState } from "react";
import { Diff, Glyph, Icon, isWriting, Key, useKeys } from "../parts";
import type { Decision, PermissionRequest, Risk } from "../proto";
import { signs, withCode } from "../text";
import { useWords, type Words } from "../words";
import { KeysNote } from "./in-words";

export type Shared = {
  who: string;
  place: string | undefined;
  onNext: () => void;
  /** Whether keys count yet. */
  isReady: () => boolean;
  isOff: boolean;
};

type Given = Shared & {
  request: PermissionRequest;
  count: number;
  /** Whether yes for this session is that edits are accepted from now on. */
  acceptsEdits: boolean;
  onDecide: (decision: Decision) => void;
  onAcceptEdits: () => void;
  onDecideAll: (decision: Decision) => void;
};

type Doing = "choose" | "reject" | "edit";

export function ApprovalCard(given: Given) {
  const { request, who, place, onNext, isReady, isOff, count, acceptsEdits, onDecide, onAcceptEdits, onDecideAll } =
    given;
  const words = useWords();
  const [doing, setDoing] = useState<Doing>("choose");
  const [isSure, setSure] = useState(false);
  const { session_rule, always_rule, command } = request;

  useEffect(() => {
    if (!isSure) return;
    const timer = setTimeout(() => setSure(false), 4000);
    return () => clearTimeout(timer);
  }, [isSure]);

  const forSession = () => (acceptsEdits ? onAcceptEdits() : onDecide({ kind: "session" }));
  const always = () => (isSure ? onDecide({ kind: "always" }) : setSure(true));
  const key =
    (work: () => void, when = true) =>
    (event: KeyboardEvent) => {
      if (isOff || !when || doing !== "choose" || isWriting(event.target) || !isReady()) return false;
      work();
      return true;
    };
  useKeys({
    once: key(() => onDecide({ kind: "once" })),
    forSession: key(forSession, session_rule !== undefined),
    always: key(always, always_rule !== undefined),
    edit: key(() => setDoing("edit")),
    reject: key(() => setDoing("reject")),
    allowAll: key(() => onDecideAll({ kind: "once" })),
    rejectAll: key(() => onDecideAll({ kind: "reject" })),
  });

  return (
    // biome-ignore lint/a11y/useSemanticElements: a question is a group of its own, without a form
    <div className="asked" role="group" aria-label={`${who} ${wouldDo(request, words)}`}>
      <header>
        <Glyph shape="ask" tone="ask" label={words.asked.waitsForYou} />
        <b>{who}</b>
        <span className="cut" role="alert">
          {wouldDo(request, words)}
        </span>
        <span className="grow" />
        {isHigh(request.risk) && <span className="risk critical">{words.asked.highRisk}</span>}
        {place !== undefined && (
          <button
            type="button"
            className="chip num"
            aria-label={words.asked.next}
            title={words.asked.next}
            onClick={onNext}
          >
            {place}
          </button>
        )}
      </header>
      <What request={request} words={words} />
      <Why request={request} words={words} acceptsEdits={acceptsEdits} isSure={isSure} />
      {doing === "choose" && (
        <div className="acts">
          <button type="button" className="btn ask" disabled={isOff} onClick={() => onDecide({ kind: "once" })}>
            {words.asked.once} <Key of="once" />
          </button>
          {session_rule !== undefined && (
            <button type="button" className="btn" disabled={isOff} onClick={forSession}>
              {acceptsEdits ? words.asked.acceptEdits : words.asked.session} <Key of="forSession" />
            </button>
          )}
          {always_rule !== undefined && (
            <button type="button" className="btn" disabled={isOff} aria-live="polite" onClick={always}>
              {isSure ? words.asked.alwaysSure : words.asked.always} <Key of="always" />
            </button>
          )}
          <button type="button" className="btn" disabled={isOff} onClick={() => setDoing("edit")}>
            {words.asked.edit} <Key of="edit" />
          </button>
          <KeysNote />
          <button type="button" className="btn danger" disabled={isOff} onClick={() => setDoing("reject")}>
            {words.asked.reject} <Key of="reject" />
          </button>
        </div>
      )}
      {doing === "reject" && (
        <Write
          label={words.asked.why}
          send={words.asked.rejectNow}
          isOff={isOff}
          onSend={(text) => onDecide(text.trim() === "" ? { kind: "reject" } : { kind: "reject", reason: text.trim() })}
          onBack={() => setDoing("choose")}
        />
      )}
      {doing === "edit" && (
        <EditFirst
          isCommand={command !== undefined}
          given={command ?? JSON.stringify(request.args, null, 2)}
          args={request.args}
          isOff={isOff}
          onSend={(given) => onDecide({ kind: "edit", arguments: given })}
          onBack={() => setDoing("choose")}
        />
      )}
      {doing === "choose" && <Ahead request={request} words={words} count={count} isOff={isOff} onAll={onDecideAll} />}
    </div>
  );
}

/** Whether it is asked about however little is asked. */
const isHigh = (risk: Risk | undefined) => risk === "critical";

function wouldDo({ command, diff, tool }: PermissionRequest, words: Words): string {
  const { would } = words.asked;
  if (command !== undefined) return would.command;
  const [file] = diff ?? [];
  if (file !== undefined) return file.deleted ? would.delete : file.created ? would.create : would.edit;
  if (tool === "web_fetch" || tool === "web_search") return would.web;
  return would.other(tool);
}

/** All of what would be done; it scrolls by itself, so that the answers stay in view. */
function What({ request, words }: { request: PermissionRequest; words: Words }) {
  const { command, diff, args } = request;
  if (command !== undefined) {
    return (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard
      <div className="cmd" tabIndex={0}>
        <span className="pr" aria-hidden="true">
          {"$ "}
        </span>
        {signs(command)}
      </div>
    );
  }
  if (diff !== undefined && diff.length > 0) {
    return (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the same
      <div className="cmd change" tabIndex={0}>
        {diff.map((file) => (
          <div key={file.path}>
            <div className="path">
              <Icon name={file.created ? "plus" : "pen"} small />
              {signs(file.path)}
              <span className="plus">+{file.added}</span>
              <span className="minus">−{file.removed}</span>
              {file.deleted && <span className="del">{words.call.deleted}</span>}
            </div>
            <Diff unified={file.unified} path={file.path} shown={Number.POSITIVE_INFINITY} />
          </div>
        ))}
      </div>
    );
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the same
    <div className="cmd" tabIndex={0}>
      <b>{withCode(request.summary)}</b>
      {"\n"}
      {signs(JSON.stringify(args, null, 2))}
    </div>
  );
}

type WhyGiven = { request: PermissionRequest; words: Words; acceptsEdits: boolean; isSure: boolean };

/** Why it is asked, what it would run in, and what a longer yes allows: what is kept is in view when it is about to be. */
function Why({ request, words, acceptsEdits, isSure }: WhyGiven) {
  const always = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (isSure) always.current?.scrollIntoView({ block: "nearest" });
  }, [isSure]);
  const { reason, sandboxed, network, opens, session_rule, always_rule } = request;
  const box = !sandboxed
    ? words.asked.noBox
    : opens
      ? words.asked.boxOpen
      : network
        ? words.asked.boxNet
        : words.asked.box;
  return (
    <div className="why">
      <span>
        {words.asked.because} <b>{reason.split("\n").join("; ")}</b>
      </span>
      {sandboxed !== undefined && request.command !== undefined && (
        <span>
          {words.asked.runsIn} <b>{box}</b>
        </span>
      )}
      {session_rule !== undefined &&
        (acceptsEdits ? (
          <span>{words.asked.acceptsEdits}</span>
        ) : (
          <span>
            {words.asked.sessionAllows} <b>{signs(inShort(session_rule, request.command, words))}</b>
          </span>
        ))}
      {always_rule !== undefined && (
        <span ref={always}>
          {words.asked.alwaysKeeps} <b>{signs(inShort(always_rule, request.command, words))}</b>
        </span>
      )}
    </div>
  );
}

/** Characters of a command from which on a rule does not repeat it. */
const SHORT_COMMAND = 40;

/** A rule that does not repeat a long command: it is shown above. */
function inShort(rule: string, command = "", words: Words): string {
  return command.length < SHORT_COMMAND ? rule : rule.replace(`\`${command}\``, () => words.asked.thisCommand);
}

type AheadGiven = {
  request: PermissionRequest;
  words: Words;
  count: number;
  isOff: boolean;
  onAll: (decision: Decision) => void;
};

/** What will be asked next, as far as that is known. */
function Ahead({ request, words, count, isOff, onAll }: AheadGiven) {
  const ahead = request.ahead ?? [];
  if (ahead.length === 0 && count < 2) return null;
  return (
    <div className="ahead">
      {ahead.length > 0 && <span className="dim">{words.asked.ahead}</span>}
      {ahead.slice(0, 2).map(({ call_id, summary, risk }, at) => (
        <span key={call_id} className={at > 0 ? "next wide" : "next"}>
          <span className="cut">{withCode(summary)}</span>
          {isHigh(risk) && <span className="risk critical">{words.asked.highRisk}</span>}
        </span>
      ))}
      {ahead.length > 2 && <span className="dim">+{ahead.length - 2}</span>}
      <span className="grow" />
      {count > 1 && (
        <button type="button" className="btn small ghost" disabled={isOff} onClick={() => onAll({ kind: "once" })}>
          {words.asked.allowAll(count)} <Key of="allowAll" />
        </button>
      )}
    </div>
  );
}

type WriteGiven = {
  label: string;
  send: string;
  /** What the way out is called, where it is more than that. */
  back?: string;
  given?: string;
  isCode?: boolean;
  isOff: boolean;
  trouble?: string | undefined;
  onSend: (text: string) => void;
  onBack: () => void;
};

/** A field for what goes with an answer. Enter sends, Escape goes back. */
export function Write({ label, send, back, given = "", isCode, isOff, trouble, onSend, onBack }: WriteGiven) {
  const words = useWords();
  const [text, setText] = useState(given);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  return (
    <div className="write">
      <textarea
        ref={field}
        className={isCode ? "mono" : ""}
        aria-label={label}
        placeholder={label}
        rows={isCode ? Math.min(8, given.split("\n").length + 1) : 2}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing || event.keyCode === 229) return;
          if (event.key === "Escape") {
            event.preventDefault();
            onBack();
          } else if (event.key === "Enter" && !event.shiftKey && !isOff) {
            event.preventDefault();
            onSend(text);
          }
        }}
      />
      {trouble !== undefined && <p className="del">{trouble}</p>}
      <div className="acts">
        <button type="button" className="btn ask" disabled={isOff} onClick={() => onSend(text)}>
          {send} <kbd>⏎</kbd>
        </button>
        <button type="button" className="btn" onClick={onBack}>
          {back ?? words.back} <kbd>Esc</kbd>
        </button>
      </div>
    </div>
  );
}

type EditGiven = {
  isCommand: boolean;
  given: string;
  args: unknown;
  isOff: boolean;
  onSend: (given: unknown) => void;
  onBack: () => void;
};

function EditFirst({ isCommand, given, args, isOff, onSend, onBack }: EditGiven) {
  const words = useWords();
  const [trouble, setTrouble] = useState<string>();
  const send = (text: string) => {
    if (isCommand) return onSend({ ...(args as object), command: text });
    try {
      onSend(JSON.parse(text));
    } catch {
      setTrouble(words.asked.notJson);
    }
  };
  return (
    <Write
      label={words.asked.edit}
      send={words.asked.runEdited}
      given={given}
      isCode
      isOff={isOff}
      trouble={trouble}
      onSend={send}
      onBack={onBack}
    />
  );
}
