//! The fold, held to what every other front end makes of the same recorded logs.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { emptyView, fold, shape } from "../src/fold";
import type { Event } from "../src/proto";

const FIXTURES = join(import.meta.dirname, "../../fixtures/view");

const logs = readdirSync(join(FIXTURES, "logs")).map((file) => {
  const name = file.replace(/\.jsonl$/, "");
  const lines = readFileSync(join(FIXTURES, "logs", file), "utf8")
    .trim()
    .split("\n");
  const seen = JSON.parse(readFileSync(join(FIXTURES, "blocks", `${name}.json`), "utf8"));
  return { name, events: lines.map((line): Event => JSON.parse(line)), seen };
});

/** Numbers that only look random: a failure can be played again. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

describe("the fold", () => {
  it("knows logs", () => expect(logs.length).toBeGreaterThan(100));

  it.each(logs)("sees $name as it was", ({ events, seen }) => {
    expect(shape(fold(emptyView(), events))).toEqual(seen);
  });

  it.each(logs)("sees $name the same however it is cut", ({ events, seen }) => {
    const roll = dice(events.length);
    const view = emptyView();
    for (let at = 0; at < events.length; ) {
      const next = at + 1 + roll(12);
      fold(view, events.slice(at, next));
      at = next;
    }
    expect(shape(view)).toEqual(seen);
  });

  it.each(logs)("passes over what another version wrote in $name", ({ events, seen }) => {
    const strange = (event: Event) => ({ ...event, type: "from_the_future" }) as unknown as Event;
    const view = fold(
      emptyView(),
      events.flatMap((event) => [strange(event), event]),
    );
    expect(shape(view)).toEqual(seen);
  });

  it("counts a change of every slice that is drawn otherwise", () => {
    const { events } = logs.find(({ name }) => name === "approved-edit") ?? { events: [] };
    const view = emptyView();
    for (const event of events) {
      const before = { ...view.revs };
      fold(view, [event]);
      if (event.type === "permission_request" || event.type === "permission_decision") {
        expect(view.revs.asked).toBeGreaterThan(before.asked);
      }
      if (event.type === "state_change") expect(view.revs.standing).toBeGreaterThan(before.standing);
    }
    expect(view.edits).toEqual([
      expect.objectContaining({ path: "a.txt", added: 1, removed: 1, created: false, deleted: false }),
    ]);
  });
});
