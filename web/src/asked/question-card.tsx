//! What an agent wants to know, a plan that waits, or whether a stopped agent may go on.

import { useState } from "react";
import { Glyph, isWriting, Key, type Keys, useKeys } from "../parts";
import type { ItemAnswer, Question, QuestionItem, Reply } from "../proto";
import { Markdown } from "../text";
import { useWords } from "../words";
import { type Shared, Write } from "./approval-card";
import { KeysNote, useTakesWords } from "./in-words";

type Given = Shared & { question: Question; onReply: (reply: Reply) => Promise<boolean> };

export function QuestionCard({ question, ...given }: Given) {
  switch (question.about) {
    case "choices":
      return <Choices {...given} id={question.question_id} items={question.items} />;
    case "plan":
      return <PlanCard {...given} plan={question.plan} />;
    case "loop":
      return <LoopCard {...given} text={question.text} />;
  }
}

function Head({
  who,
  says,
  place,
  onNext,
  plan,
}: Pick<Shared, "who" | "place" | "onNext"> & { says: string; plan?: boolean }) {
  const words = useWords();
  return (
    <header className={plan ? "plan" : ""}>
      <Glyph shape="ask" tone="ask" label={words.asked.waitsForYou} />
      <b>{who}</b>
      <span role="alert">{says}</span>
      <span className="grow" />
      {plan && <span className="chip plan wide">{words.composer.modes.plan}</span>}
      {place !== undefined && (
        <button type="button" className="chip num" aria-label={words.asked.next} onClick={onNext}>
          {place}
        </button>
      )}
    </header>
  );
}

type Part<T> = Omit<Given, "question"> & T;

type ChoicesGiven = Part<{ id: string; items: readonly QuestionItem[] }>;

function Choices({ id, items, isReady, isOff, onReply, ...head }: ChoicesGiven) {
  const words = useWords();
  const [answers, setAnswers] = useState<readonly ItemAnswer[]>([]);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [writes, setWrites] = useState(false);
  const item = items[answers.length];
  const options = item?.options ?? [];

  const answer = async (given: ItemAnswer): Promise<boolean> => {
    const all = [...answers, given];
    if (all.length >= items.length) return onReply({ kind: "choices", answers: [...all] });
    setAnswers(all);
    setChosen([]);
    setWrites(false);
    return true;
  };
  useTakesWords(`${id} ${answers.length}`, options.length > 0, async (text) =>
    isOff ? false : answer(chosen.length > 0 ? { chosen: [...chosen], text } : { text }),
  );
  const choose = (label: string) => {
    if (!item?.multiple) return answer({ chosen: [label] });
    setChosen(chosen.includes(label) ? chosen.filter((each) => each !== label) : [...chosen, label]);
  };
  const keys: Keys = Object.fromEntries(
    options.slice(0, 9).map(({ label }, at) => [
      String(at + 1),
      (event: KeyboardEvent) => {
        if (isOff || writes || isWriting(event.target) || !isReady()) return false;
        choose(label);
        return true;
      },
    ]),
  );
  useKeys(keys);
  if (item === undefined) return null;
  const field = options.length === 0 || writes;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a question is a group of its own, without a form
    <div className="asked" role="group" aria-label={item.text}>
      <Head {...head} says={`${words.asked.asks}: ${item.text}`} />
      {!field && (
        <ul className="options">
          {options.map(({ label, description }, at) => (
            <li key={label}>
              <button
                type="button"
                disabled={isOff}
                aria-pressed={item.multiple ? chosen.includes(label) : undefined}
                onClick={() => choose(label)}
              >
                <kbd>{at + 1}</kbd>
                <span>
                  {label}
                  {description !== undefined && <small>{description}</small>}
                </span>
              </button>
            </li>
          ))}
          <li>
            <button type="button" disabled={isOff} onClick={() => setWrites(true)}>
              <kbd>…</kbd>
              <span className="mid">{words.asked.ownWords}</span>
            </button>
          </li>
        </ul>
      )}
      {field ? (
        <Write
          label={words.asked.ownWords}
          send={words.asked.answer}
          {...(options.length === 0 && { back: words.asked.skip })}
          isOff={isOff}
          onSend={(text) => answer(text.trim() === "" ? {} : { text: text.trim() })}
          onBack={() => (options.length > 0 ? setWrites(false) : onReply({ kind: "dismiss" }))}
        />
      ) : (
        <div className="acts">
          {item.multiple && (
            <button
              type="button"
              className="btn ask"
              disabled={isOff || chosen.length === 0}
              onClick={() => answer({ chosen: [...chosen] })}
            >
              {words.asked.answer}
            </button>
          )}
          {item.multiple && <span className="dim small">{words.asked.pickMany}</span>}
          <KeysNote />
          <button type="button" className="btn ghost" disabled={isOff} onClick={() => onReply({ kind: "dismiss" })}>
            {words.asked.skip}
          </button>
        </div>
      )}
    </div>
  );
}

function PlanCard({ plan, isReady, isOff, onReply, ...head }: Part<{ plan: string }>) {
  const words = useWords();
  const [revises, setRevises] = useState(false);
  const key = (work: () => void) => (event: KeyboardEvent) => {
    if (isOff || revises || isWriting(event.target) || !isReady()) return false;
    work();
    return true;
  };
  const accept = () => onReply({ kind: "accept_plan" });
  const askLess = () => onReply({ kind: "accept_plan", approval: "accept_edits" });
  const drop = () => onReply({ kind: "drop_plan" });
  useKeys({
    once: key(accept),
    always: key(askLess),
    revise: key(() => setRevises(true)),
    reject: key(drop),
  });
  return (
    // biome-ignore lint/a11y/useSemanticElements: a question is a group of its own, without a form
    <div className="asked" role="group" aria-label={words.asked.plan}>
      <Head {...head} says={words.asked.plan} plan />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard */}
      <div className="cmd plan" tabIndex={0}>
        <Markdown text={plan} />
      </div>
      {revises ? (
        <Write
          label={words.asked.reviseWhat}
          send={words.asked.revise}
          isOff={isOff}
          onSend={(comments) => comments.trim() !== "" && onReply({ kind: "revise_plan", comments: comments.trim() })}
          onBack={() => setRevises(false)}
        />
      ) : (
        <div className="acts">
          <button type="button" className="btn ask" disabled={isOff} onClick={accept}>
            {words.asked.carryOut} <Key of="once" />
          </button>
          <button type="button" className="btn" disabled={isOff} onClick={askLess}>
            {words.asked.askLess} <Key of="always" />
          </button>
          <button type="button" className="btn" disabled={isOff} onClick={() => setRevises(true)}>
            {words.asked.revise} <Key of="revise" />
          </button>
          <KeysNote />
          <button type="button" className="btn danger" disabled={isOff} onClick={drop}>
            {words.asked.drop} <Key of="reject" />
          </button>
        </div>
      )}
    </div>
  );
}

function LoopCard({ text, isOff, onReply, isReady: _, ...head }: Part<{ text: string }>) {
  const words = useWords();
  return (
    // biome-ignore lint/a11y/useSemanticElements: a question is a group of its own, without a form
    <div className="asked" role="group" aria-label={words.asked.loop}>
      <Head {...head} says={words.asked.loop} />
      <div className="cmd">{text}</div>
      <Write
        label={words.asked.otherwise}
        send={words.asked.goOn}
        back={words.asked.stay}
        isOff={isOff}
        onSend={(comments) =>
          onReply(comments.trim() === "" ? { kind: "go_on" } : { kind: "go_on", comments: comments.trim() })
        }
        onBack={() => onReply({ kind: "dismiss" })}
      />
    </div>
  );
}
