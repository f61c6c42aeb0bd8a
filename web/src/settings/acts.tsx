//! What is done at once, such as switching a server off: one at a time, with what came of it in words.

import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { saysNext, wordsOf } from "../models";
import { useWords } from "../words";

export type Acts = {
  /** What is being done, by its name. */
  busy: string | undefined;
  problem: unknown;
  /** Does something; what is shown of the program is asked anew afterwards. */
  run: <T>(name: string, work: () => Promise<T>) => Promise<T | undefined>;
};

export function useActs(): Acts {
  const queries = useQueryClient();
  const [busy, setBusy] = useState<string>();
  const [problem, setProblem] = useState<unknown>();
  const run = async <T,>(name: string, work: () => Promise<T>): Promise<T | undefined> => {
    setBusy(name);
    setProblem(undefined);
    try {
      const done = await work();
      await queries.invalidateQueries();
      return done;
    } catch (problem) {
      setProblem(problem);
      return undefined;
    } finally {
      setBusy(undefined);
    }
  };
  return { busy, problem, run };
}

export function Trouble({ problem }: { problem: unknown }) {
  if (problem === undefined || problem === null) return null;
  const next = saysNext(problem);
  return (
    <div className="small" role="alert">
      <p className="del">{wordsOf(problem)}</p>
      {next !== undefined && <p className="mid">{next}</p>}
    </div>
  );
}

type AskedGiven<T> = {
  query: { data: T | undefined; error: Error | null; refetch: () => unknown };
  children: (data: T) => ReactNode;
};

/** What is asked of the program: while it comes, when it can't be had, and then itself. */
export function Asked<T>({ query: { data, error, refetch }, children }: AskedGiven<T>) {
  const words = useWords();
  if (data !== undefined) return children(data);
  if (error === null) return <p className="dim waits-a-while">{words.settings.comes}</p>;
  return (
    <>
      <Trouble problem={error} />
      <p>
        <button type="button" className="btn" onClick={() => void refetch()}>
          {words.retry}
        </button>
      </p>
    </>
  );
}

/** What is to be said of something besides. */
export function Warnings({ of }: { of: readonly string[] | undefined }) {
  if (of === undefined || of.length === 0) return null;
  return (
    <ul className="warnings small">
      {of.map((warning) => (
        <li key={warning}>{warning}</li>
      ))}
    </ul>
  );
}

type SwitchGiven = { label: string; isOn: boolean; disabled?: boolean; onSwitch: (isOn: boolean) => void };

/** A switch that holds at once. */
export function Switch({ label, isOn, disabled = false, onSwitch }: SwitchGiven) {
  const words = useWords().settings;
  return (
    <button
      type="button"
      role="switch"
      className="switch"
      aria-label={label}
      aria-checked={isOn}
      disabled={disabled}
      onClick={() => onSwitch(!isOn)}
    >
      <i />
      {isOn ? words.on : words.off}
    </button>
  );
}
