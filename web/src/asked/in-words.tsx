//! What the field and the question above it know of each other: what is written can be the answer, and holds the keys.

import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from "react";
import { useLetters } from "../parts";
import { useWords } from "../words";

/** Answers in words; false where that was not taken. */
type Answer = (text: string) => Promise<boolean>;

/** What is shown takes words, and what else it takes. */
export type Answerable = { id: string; hasOptions: boolean; answer: Answer };

type Between = {
  question: Answerable | undefined;
  setQuestion: (question: Answerable | undefined) => void;
  holdsKeys: boolean;
  setHoldsKeys: (holdsKeys: boolean) => void;
};

const Asked = createContext<Between>({
  question: undefined,
  setQuestion: () => {},
  holdsKeys: false,
  setHoldsKeys: () => {},
});

export function AskedAndField({ children }: { children: ReactNode }) {
  const [question, setQuestion] = useState<Answerable>();
  const [holdsKeys, setHoldsKeys] = useState(false);
  const between = useMemo(() => ({ question, setQuestion, holdsKeys, setHoldsKeys }), [question, holdsKeys]);
  return <Asked value={between}>{children}</Asked>;
}

/** As long as this is drawn, what is written in the field answers it. */
export function useTakesWords(id: string, hasOptions: boolean, answer: Answer): void {
  const { setQuestion } = useContext(Asked);
  const now = useRef(answer);
  now.current = answer;
  useEffect(() => {
    setQuestion({ id, hasOptions, answer: (text) => now.current(text) });
    return () => setQuestion(undefined);
  }, [setQuestion, id, hasOptions]);
}

/** The question that a text of the field answers: none where the text was begun before the question was there. */
export function useAnswered(text: string): Answerable | undefined {
  const { question } = useContext(Asked);
  const [seen, setSeen] = useState<{ id: string | undefined; isBegun: boolean }>({ id: undefined, isBegun: false });
  const isEmpty = text.trim() === "";
  if (seen.id !== question?.id) setSeen({ id: question?.id, isBegun: !isEmpty });
  else if (seen.isBegun && isEmpty) setSeen({ ...seen, isBegun: false });
  return seen.isBegun ? undefined : question;
}

/** Says whether the field has the focus with nothing in it: keys that would answer are written then. */
export function useHoldsKeys(holdsKeys: boolean): void {
  const { setHoldsKeys } = useContext(Asked);
  useEffect(() => {
    setHoldsKeys(holdsKeys);
    return () => setHoldsKeys(false);
  }, [setHoldsKeys, holdsKeys]);
}

/** How the keys are had, as long as the field has them. It keeps its place: a click that takes the focus moves no button. */
export function KeysNote() {
  const words = useWords();
  const { holdsKeys } = useContext(Asked);
  const [lettersCount] = useLetters();
  if (!lettersCount) return <span className="grow" />;
  return (
    <span className={holdsKeys ? "grow keys-note" : "grow keys-note off"}>
      <kbd>Esc</kbd> {words.asked.escLeaves}
    </span>
  );
}
