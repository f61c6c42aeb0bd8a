//! What a person says and does to an agent: correct, give more, answer, pause, go on, stop, start over.

import { useState } from "react";
import { Link } from "wouter";
import { isLive } from "../fold";
import { CopyButton, draftToAgent, Icon, Key, Seg, SureButton, useKeys, useStored } from "../parts";
import type { AgentOrder } from "../proto";
import { useIsLive, useSession } from "../wire";
import { useWords } from "../words";
import type { Row } from "./tree";

const KINDS = ["redirect", "task", "answer"] as const;

type Kind = (typeof KINDS)[number];

/** Hands orders to an agent, and says what became of them. */
export function useOrders(agent: string) {
  const session = useSession();
  const [trouble, setTrouble] = useState<string>();
  const [isSending, setSending] = useState(false);
  const send = async (order: AgentOrder): Promise<boolean> => {
    setSending(true);
    setTrouble(undefined);
    try {
      await session.send({ type: "agent_command", agent_id: agent, order });
      return true;
    } catch (problem) {
      setTrouble(problem instanceof Error ? problem.message : String(problem));
      return false;
    } finally {
      setSending(false);
    }
  };
  return { send, trouble, isSending };
}

type Given = { row: Row; question: string | undefined; log: string; chat: string | undefined };

export function Steer({ row, question, log, chat }: Given) {
  const words = useWords();
  const isOnline = useIsLive();
  const { send, trouble, isSending } = useOrders(row.id);
  const [picked, setPicked] = useState<Kind>();
  const { id: session } = useSession();
  const [draft, setText] = useStored(draftToAgent(session, row.id));
  const text = draft ?? "";
  const [told, setTold] = useState<Kind>();
  const [stops, setStops] = useState(0);
  const { node } = row;
  const isRoot = node === undefined;
  const isAlive = isRoot || isLive(node.state);
  const kinds = KINDS.filter((kind) => kind !== "answer" || question !== undefined);
  const kind = kinds.find((each) => each === picked) ?? (question !== undefined ? "answer" : "redirect");
  const isOff = !isOnline || isSending;
  const canPause = !isRoot && (node.state === "running" || node.state === "created");
  const canResume = !isRoot && node.state === "paused";
  const canStop = isRoot ? row.standing === "running" || row.standing === "asks" : isAlive;

  const say = async () => {
    const said = text.trim();
    if (said === "" || isOff) return;
    if (await send({ kind, text: said })) {
      setText(null);
      setTold(kind);
      setPicked(undefined);
    }
  };
  const pause = () => void send({ kind: canPause ? "pause" : "resume" });
  useKeys({
    pause: () => {
      if (isOff || !(canPause || canResume)) return false;
      pause();
      return true;
    },
    stopAgent: () => {
      if (isOff || !canStop) return false;
      setStops((before) => before + 1);
      return true;
    },
  });
  return (
    <section className="sect steer">
      {isAlive && (
        <>
          <header>
            <h2>{words.tree.say}</h2>
          </header>
          <Seg
            label={words.tree.kind}
            value={kind}
            options={kinds.map((value) => ({ value, label: words.tree.kinds[value] }))}
            onPick={setPicked}
          />
          <textarea
            aria-label={words.tree.hint[kind]}
            placeholder={words.tree.hint[kind]}
            rows={2}
            value={text}
            disabled={!isOnline}
            onChange={(event) => {
              setText(event.target.value);
              setTold(undefined);
            }}
            onKeyDown={(event) => {
              const isComposing = event.nativeEvent.isComposing || event.keyCode === 229;
              if (event.key !== "Enter" || event.shiftKey || isComposing) return;
              event.preventDefault();
              void say();
            }}
          />
          <div className="acts">
            <button type="button" className="btn" disabled={isOff || text.trim() === ""} onClick={() => void say()}>
              <Icon name="up" small />
              {words.tree.send}
            </button>
            <span className="dim small" role="status">
              {told === undefined ? "" : words.tree.sent[told]}
            </span>
          </div>
        </>
      )}
      {!isAlive && <Over text={text} onGone={() => setText(null)} />}
      <div className="acts">
        {(canPause || canResume) && (
          <button type="button" className="btn" disabled={isOff} onClick={pause}>
            <Icon name={canPause ? "pause" : "right"} small />
            {canPause ? words.tree.pause : words.tree.resume} <Key of="pause" />
          </button>
        )}
        <Link className="btn" href={log} title={words.tree.logOf(row.name)}>
          {words.tree.log} <kbd>⏎</kbd>
        </Link>
        {chat !== undefined && (
          <Link className="btn ghost" href={chat}>
            {words.tree.inChat}
          </Link>
        )}
        {!isRoot && (
          <SureButton
            label={words.tree.retry}
            sure={words.tree.retrySure}
            title={words.tree.retryWhat}
            disabled={isOff}
            onSure={() => void send({ kind: "retry" })}
          />
        )}
        <span className="grow" />
        {canStop && (
          <SureButton
            className="btn danger edged"
            label={words.tree.stop}
            sure={words.tree.stopSure}
            title={words.tree.stopWhat}
            disabled={isOff}
            presses={stops}
            onSure={() => void send({ kind: "cancel" })}
          >
            {" "}
            <Key of="stopAgent" />
          </SureButton>
        )}
      </div>
      {(trouble !== undefined || !isOnline) && (
        <p className="trouble" role="alert">
          {isOnline ? words.tree.trouble(trouble ?? "") : words.tree.offline}
        </p>
      )}
    </section>
  );
}

/** An agent that has ended is told nothing more; what was being written to it can be used elsewhere. */
function Over({ text, onGone }: { text: string; onGone: () => void }) {
  const words = useWords();
  if (text === "") return <p className="dim small">{words.tree.over}</p>;
  return (
    <>
      <p className="dim small" role="status">
        {words.tree.overDraft}
      </p>
      <textarea aria-label={words.tree.notSent} rows={2} value={text} readOnly />
      <div className="acts">
        <CopyButton text={text} />
        <button type="button" className="btn ghost" onClick={onGone}>
          {words.tree.putAway}
        </button>
      </div>
    </>
  );
}
