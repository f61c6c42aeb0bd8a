//! The question that comes to the field: who asks, all of what is asked, and every answer.

import { useEffect, useRef, useState } from "react";
import type { Command } from "../proto";
import { useIsLive, useSession, useSlices } from "../wire";
import { useWords } from "../words";
import { ApprovalCard } from "./approval-card";
import { acceptsEdits, askerOf, openAsks } from "./asks";
import { QuestionCard } from "./question-card";
import { isWakingClick, useReady } from "./use-ready";

export function Dock() {
  const words = useWords();
  const session = useSession();
  const view = useSlices("asked", "standing");
  const isLive = useIsLive();
  const asks = openAsks(view);
  const [chosen, setChosen] = useState<number>();
  const [sent, setSent] = useState<ReadonlySet<number>>(new Set());
  const [trouble, setTrouble] = useState<string>();
  const element = useRef<HTMLElement>(null);
  const at = Math.max(
    0,
    asks.findIndex(({ id }) => id === chosen),
  );
  const ask = asks[at];
  const isReady = useReady(element, ask?.id ?? 0);

  // biome-ignore lint/correctness/useExhaustiveDependencies: what was said of one question is not said of the next
  useEffect(() => setTrouble(undefined), [ask?.id]);

  if (ask === undefined) return null;

  const send = (id: number, ...commands: Command[]): Promise<boolean> => {
    setSent((before) => new Set(before).add(id));
    setTrouble(undefined);
    return Promise.all(commands.map((command) => session.send(command))).then(
      () => true,
      (problem: unknown) => {
        setSent((before) => new Set([...before].filter((each) => each !== id)));
        setTrouble(problem instanceof Error ? problem.message : String(problem));
        return false;
      },
    );
  };

  const shared = {
    who: askerOf(view, ask) ?? words.asked.agent,
    place: asks.length > 1 ? words.asked.ofMany(at + 1, asks.length) : undefined,
    onNext: () => setChosen(asks[(at + 1) % asks.length]?.id),
    isReady,
    isOff: !isLive || sent.has(ask.id),
  };
  return (
    <section
      className="dock"
      ref={element}
      aria-label={words.asked.label}
      onClickCapture={(event) => {
        if (!isWakingClick()) return;
        event.preventDefault();
        event.stopPropagation();
      }}
    >
      {ask.kind === "approval" ? (
        <ApprovalCard
          key={ask.id}
          {...shared}
          request={ask.data.request}
          acceptsEdits={acceptsEdits(view, ask)}
          onDecide={(decision) => void send(ask.id, { type: "approve", call_id: ask.data.request.call_id, decision })}
          onAcceptEdits={() =>
            void send(
              ask.id,
              { type: "approve", call_id: ask.data.request.call_id, decision: { kind: "once" } },
              { type: "set_approval", approval: "accept_edits" },
            )
          }
          onDecideAll={(decision) => {
            for (const each of asks) {
              if (each.kind !== "approval") continue;
              void send(each.id, { type: "approve", call_id: each.data.request.call_id, decision });
            }
          }}
          count={asks.filter(({ kind }) => kind === "approval").length}
        />
      ) : (
        <QuestionCard
          key={ask.id}
          {...shared}
          question={ask.data.question}
          onReply={(reply) => send(ask.id, { type: "answer", question_id: ask.data.question.question_id, reply })}
        />
      )}
      {(trouble !== undefined || !isLive) && (
        <p className="trouble" role="alert">
          {isLive ? words.asked.trouble(trouble ?? "") : words.asked.offline}
        </p>
      )}
    </section>
  );
}
