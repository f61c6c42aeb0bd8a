//! A session as it is opened: what comes is taken in at once, and drawn when it is worth it.
// @vitest-environment happy-dom

import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Event, SessionRow, SessionSnapshot } from "../src/proto";
import type { Follower, Line } from "../src/wire/line";
import { LiveSession } from "../src/wire/session";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function opened() {
  let follower: Follower | undefined;
  const line = {
    state: { kind: "live" },
    subscribe: () => () => {},
    follow: (_: string, given: Follower) => {
      follower = given;
      return () => {};
    },
  };
  const session = new LiveSession("s", line as unknown as Line, () => {});
  session.use();
  let drawn = 0;
  session.subscribe(() => {
    drawn += 1;
  });
  const tell = (seq: number, body: object) =>
    follower?.event({ seq, ts: "2026-01-01T00:00:00.000Z", session_id: "s", agent_id: "a", ...body } as Event);
  const come = (from: number, to: number) => {
    for (let seq = from; seq <= to; seq++) {
      tell(seq, { type: "message", id: `m${seq}`, role: "assistant", parts: [{ kind: "text", text: "word" }] });
    }
  };
  const stands = (last_seq: number) => follower?.snapshot({ last_seq } as SessionSnapshot);
  return { session, tell, come, stands, drawn: () => drawn };
}

it("is drawn once when all that was there has come", () => {
  const { session, come, stands, drawn } = opened();
  stands(300);
  for (let part = 0; part < 3; part++) {
    expect(drawn()).toBe(0);
    come(part * 100 + 1, part * 100 + 100);
    vi.advanceTimersByTime(50);
  }
  expect([session.isOpen, session.view.blocks.length, drawn()]).toEqual([true, 300, 1]);
  come(301, 301);
  vi.advanceTimersByTime(50);
  expect([session.view.blocks.length, drawn()]).toEqual([301, 2]);
});

it("is drawn all the same when that takes long, or nobody says how much there is", () => {
  const { session, come, drawn } = opened();
  come(1, 10);
  vi.advanceTimersByTime(100);
  expect([session.view.seq, drawn()]).toEqual([10, 0]);
  vi.advanceTimersByTime(1_000);
  expect(drawn()).toBe(1);
});

it("is at work while somebody below a root that is done is, and paused with them", () => {
  const { session, tell, stands } = opened();
  const row = { id: "s", work: "completed" } as SessionRow;
  const child = (state: string) => ({
    type: "agent_update",
    node: { id: "c", name: "c", type: "sub", state, task: "" },
  });
  const work = (seq: number, body: object) => {
    tell(seq, body);
    vi.advanceTimersByTime(50);
    return session.known(row).work;
  };
  stands(1);
  expect(work(1, child("running"))).toBe("running");
  expect(work(2, { type: "agent_complete", reason: "natural", session_usage: {}, usage: {} })).toBe("running");
  expect(work(3, child("paused"))).toBe("paused");
  expect(work(4, child("completed"))).toBe("completed");
});
