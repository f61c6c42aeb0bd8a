//! From where to where is compared: the session's beginning, a message, a checkpoint, now.

import { useQuery } from "@tanstack/react-query";
import type { Kept } from "../fold";
import { Pick as Choice } from "../parts";
import type { RewindPoint } from "../proto";
import { rewindPoints, useSession, useSlices } from "../wire";
import { useFormat, useWords, type Words } from "../words";
import { FIRST, NOW, type Range } from "./range";

/** Letters of a message that name it in a list. */
const SHORT = 48;

const END = "end";

export function useMessages(): readonly RewindPoint[] {
  const session = useSession();
  const { counting } = useSlices("said");
  const { data } = useQuery({
    queryKey: ["rewind points", session.id, counting.said.length, counting.rewinds.length],
    queryFn: () => rewindPoints(session.id),
    placeholderData: (before) => before,
  });
  return data?.messages ?? [];
}

type Given = { range: Range; onRange: (range: Range) => void };

export function RangePicks({ range, onRange }: Given) {
  const words = useWords().review;
  const format = useFormat();
  const messages = useMessages();
  const { checkpoints } = useSlices("changes");
  const short = (text: string) => {
    const [line = ""] = text.trim().split("\n", 1);
    return line.length > SHORT ? `${line.slice(0, SHORT)}…` : line;
  };
  const points = (message: (number: number, text: string) => string, time: (time: string, label: string) => string) => {
    const said = messages.map(({ number, text }) => ({ value: String(number), label: message(number, short(text)) }));
    const kept = checkpoints.toReversed().map(({ rev, at_ms, when, label }) => ({
      value: rev,
      label: time(format.clock(at_ms), stateOf(words, { when, label: short(label) })),
    }));
    return { said, kept };
  };
  const since = points(words.sinceMessage, words.sinceTime);
  const until = points(words.untilMessage, words.untilTime);
  const from = range.from ?? FIRST;
  const to = range.to ?? NOW;
  const froms = [{ value: FIRST, label: words.began }, ...since.said.filter(({ value }) => value !== FIRST)];
  const tos = [
    { value: NOW, label: words.untilNow },
    { value: END, label: words.untilEnd },
    ...until.said.filter(({ value }) => value !== FIRST),
  ];
  const named = (value: string, options: readonly { value: string; label: string }[]) =>
    options.find((option) => option.value === value || (value.length > 3 && option.value.startsWith(value)));
  const fromNow = named(from, [...froms, ...since.kept]);
  const toNow = named(to, [...tos, ...until.kept]);
  // What the address names may be known to nobody here.
  const strange = (value: string) => ({ value, label: words.otherPoint(value) });
  const extra = (value: string, found: unknown) => (found === undefined ? [strange(value)] : []);
  const group = (label: string, options: readonly { value: string; label: string }[]) =>
    options.length > 0 ? [{ label, options }] : [];
  return (
    <>
      <Choice
        label={words.since}
        value={fromNow?.value ?? from}
        options={[...extra(from, fromNow), ...froms, ...group(words.checkpoints, since.kept)]}
        onPick={(from) => onRange({ ...range, from })}
      >
        <span className="cut">{(fromNow ?? strange(from)).label}</span>
      </Choice>
      <Choice
        label={words.until}
        value={toNow?.value ?? to}
        options={[...extra(to, toNow), ...tos, ...group(words.checkpoints, until.kept)]}
        onPick={(to) => onRange({ ...range, to })}
      >
        <span className="cut">{(toNow ?? strange(to)).label}</span>
      </Choice>
    </>
  );
}

/** A checkpoint in words. What was kept before going back says so itself. */
export function stateOf(words: Words["review"], { when, label }: Pick<Kept, "when" | "label">): string {
  return when === "restore" ? words.when.restore : `${words.when[when]} ${label}`;
}
