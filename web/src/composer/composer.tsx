//! Where the person writes: what they say, what waits, and how the agent works.

import { useEffect, useRef, useState } from "react";
import { type Answerable, openAsks, useAnswered, useHoldsKeys } from "../asked";
import { draftOf, Icon, stored, useKeys, useStored } from "../parts";
import type { ApprovalMode, Command, Mode } from "../proto";
import { commandIn, useShellOff } from "../shell";
import { useOutgoing, useSession, useShell, useSlices } from "../wire";
import { useWords } from "../words";
import { Field } from "./field";
import { OwnRun } from "./own-run";
import { ModePick, SettingPicks, type Settings } from "./picks";
import { Queue, waitingIn } from "./queue";

const MODES: readonly Mode[] = ["agent", "plan", "ask", "debug"];

export function Composer() {
  const words = useWords();
  const session = useSession();
  const view = useSlices("standing", "said", "asked");
  useOutgoing();
  const { standing } = view;
  const [draft, setDraft] = useStored(draftOf(session.id));
  const shell = useShell();
  const shellOff = useShellOff();
  const [trouble, setTrouble] = useState<string>();
  const field = useRef<HTMLTextAreaElement>(null);
  const text = draft ?? "";
  const works = !view.over && standing.since_ms !== undefined;
  const command = commandIn(text);
  const question = useAnswered(text);
  const [isFocused, setFocused] = useState(false);
  const holdsKeys = isFocused && text === "" && openAsks(view).length > 0;
  useHoldsKeys(holdsKeys);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another session is written to
  useEffect(() => {
    if (matchMedia("(pointer: fine)").matches) field.current?.focus();
    setTrouble(undefined);
  }, [session]);

  const send = (command: Command) => {
    setTrouble(undefined);
    session.send(command).catch((problem: unknown) => {
      setTrouble(problem instanceof Error ? problem.message : String(problem));
    });
  };

  const run = (command: string) => {
    if (command === "") return;
    setTrouble(shellOff ?? (shell.running === undefined ? undefined : words.shell.busy));
    if (shellOff === undefined && shell.run(command) !== undefined) setDraft(null);
  };

  const answer = async ({ answer }: Answerable, said: string) => {
    setTrouble(undefined);
    setDraft(null);
    if (!(await answer(said)) && stored(draftOf(session.id)) === null) setDraft(said);
  };

  const say = (when: "now" | "later") => {
    const said = text.trim();
    if (said === "") return;
    if (command !== undefined) return run(command);
    if (question !== undefined && when === "now") return void answer(question, said);
    session.say(said, when);
    setDraft(null);
  };

  const takeBack = (id: string, said: string) => {
    setTrouble(undefined);
    session.send({ type: "withdraw", message_ids: [id] }).then(
      () => {
        const own = shell.takeBack(said);
        if (text.trim() === "") setDraft(own);
        field.current?.focus();
      },
      (problem: unknown) => setTrouble(problem instanceof Error ? problem.message : String(problem)),
    );
  };

  const setMode = (mode: Mode) => send({ type: "set_mode", mode });
  const nextMode = () => setMode(MODES[(MODES.indexOf(standing.mode) + 1) % MODES.length] ?? "agent");

  useKeys({
    copy: () => {
      const last = view.blocks.findLast((block) => block.kind === "answer");
      if (last?.kind === "answer") void navigator.clipboard.writeText(last.data.pieces.join(""));
    },
  });

  const settings: Settings = {
    model: standing.model,
    approval: standing.approval,
    generation: standing.generation,
    folder: standing.cwd,
    answers: standing.answers,
    onModel: (model) => send({ type: "set_model", model }),
    onApproval: (approval: ApprovalMode) => send({ type: "set_approval", approval }),
    onGeneration: (generation) => send({ type: "set_generation", generation }),
  };

  const placeholder =
    question !== undefined
      ? question.hasOptions
        ? words.composer.answerOrChoose
        : words.composer.answer
      : works
        ? words.composer.working
        : words.composer.idle;
  const does =
    command !== undefined ? words.shell.run : question !== undefined ? words.asked.answer : words.composer.send;

  return (
    <section className="composer" aria-label={words.composer.label}>
      <OwnRun />
      <Queue onTakeBack={takeBack} />
      {trouble !== undefined && (
        <p className="trouble" role="alert">
          {trouble}
        </p>
      )}
      <Field
        ref={field}
        label={words.composer.label}
        placeholder={placeholder}
        text={text}
        onText={setDraft}
        onSend={() => say("now")}
        onTab={() => {
          if (text.trim() === "" || !works) return false;
          say("later");
          return true;
        }}
        onBackTab={nextMode}
        onFocused={setFocused}
        onEscape={() => {
          if (holdsKeys) field.current?.blur();
          return holdsKeys;
        }}
        onUp={() => {
          const last = waitingIn(view).at(-1);
          if (text !== "" || last === undefined) return false;
          takeBack(last.data.message_id, last.data.text);
          return true;
        }}
      />
      <div className="tools">
        <ModePick mode={standing.mode} onMode={setMode} />
        <SettingPicks {...settings} />
        <span className="grow" />
        {works && text.trim() !== "" && command === undefined && (
          <button type="button" className="btn ghost small wide" onClick={() => say("later")}>
            <kbd>Tab</kbd> {words.composer.later}
          </button>
        )}
        <button
          type="button"
          className="send"
          aria-label={does}
          title={does}
          disabled={text.trim() === ""}
          onClick={() => say("now")}
        >
          <Icon name="up" />
        </button>
      </div>
    </section>
  );
}
