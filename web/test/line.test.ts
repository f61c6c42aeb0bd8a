//! The line to the server: calls whose answer comes bit by bit.
// @vitest-environment happy-dom

import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Problem } from "../src/wire/http";
import { Line } from "../src/wire/line";

type Said = { id: number; says: Record<string, unknown> | string };

class Socket {
  static readonly OPEN = 1;
  static last: Socket;
  readonly readyState = 1;
  readonly sent: Said[] = [];
  onopen: (() => void) | null = null;
  onclose: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;

  constructor() {
    Socket.last = this;
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  close(): void {}

  hear(id: number | undefined, says: unknown): void {
    this.onmessage?.({ data: JSON.stringify({ id, says }) });
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("WebSocket", Socket);
  vi.stubGlobal("fetch", () => Promise.reject(new Error("away")));
  localStorage.setItem("neco.tab", "t");
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function watched() {
  const line = new Line();
  line.start();
  const socket = Socket.last;
  socket.onopen?.();
  socket.hear(1, { welcome: {} });
  const heard: unknown[] = [];
  const cancel = line.watch(
    "shell.run",
    { command: "ls" },
    {
      item: (item) => heard.push(item),
      ended: (problem: Problem | undefined) => heard.push(problem ?? "end"),
    },
  );
  const asked = socket.sent.find(({ says }) => typeof says === "object" && "watch" in says);
  return { line, socket, heard, cancel, asked };
}

it("hears an answer bit by bit, to its end", () => {
  const { socket, heard, asked, cancel } = watched();
  expect(asked?.says).toEqual({ watch: { name: "shell.run", arguments: { command: "ls" } } });
  socket.hear(asked?.id, { item: 1 });
  socket.hear(asked?.id, { item: 2 });
  socket.hear(asked?.id, "end");
  socket.hear(asked?.id, { item: 3 });
  cancel();
  expect(heard).toEqual([1, 2, "end"]);
  expect(socket.sent.some(({ says }) => says === "cancel")).toBe(false);
});

it("hears why there is none, also when the line breaks", () => {
  const one = watched();
  one.socket.hear(one.asked?.id, { not_called: { trouble: "not_allowed", message: "may only read", hint: "ask" } });
  expect(one.heard).toMatchObject([{ status: 403, message: "may only read", hint: "ask" }]);
  const two = watched();
  two.socket.hear(two.asked?.id, { error: { refused: "too much" } });
  expect(two.heard).toMatchObject([{ status: 400, message: "too much" }]);
  const three = watched();
  three.socket.onclose?.();
  expect(three.heard).toMatchObject([{ isOffline: true }]);
});

it("says that nobody waits any more", () => {
  const { socket, heard, asked, cancel } = watched();
  cancel();
  socket.hear(asked?.id, { item: 1 });
  expect(heard).toEqual([]);
  expect(socket.sent.at(-1)).toEqual({ id: asked?.id, says: "cancel" });
});
