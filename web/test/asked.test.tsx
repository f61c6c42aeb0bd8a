// @vitest-environment happy-dom
//! What is asked, and the field below it: what a yes lets through, and what is written as an answer.

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { AskedAndField, Dock } from "../src/asked";
import { acceptsEdits } from "../src/asked/asks";
import { Composer } from "../src/composer";
import { type BlockOf, emptyView, fold, type View } from "../src/fold";
import type { Event, PermissionRequest, Question } from "../src/proto";
import { SessionContext, Wire, WireContext } from "../src/wire";

vi.setConfig({ testTimeout: 60_000 });

let seq = 0;

const event = (payload: object): Event =>
  ({ seq: ++seq, ts: "2026-01-01T00:00:00Z", agent_id: "r", ...payload }) as unknown as Event;

const EDIT: PermissionRequest = {
  call_id: "1",
  tool: "edit",
  summary: "Edit cart.py",
  args: {},
  risk: "low",
  reason: "it writes",
  diff: [{ path: "cart.py", unified: "@@ -1 +1 @@\n-a\n+b\n", added: 1, removed: 1, created: false, deleted: false }],
  session_rule: "edit and write ordinary files",
  always_rule: "edit and write ordinary files, in this folder",
};

const QUESTION: Question = {
  question_id: "q",
  about: "choices",
  items: [{ text: "Which store?", options: [{ label: "Postgres" }] }, { text: "What is it called?" }],
} as unknown as Question;

const request = (given: Partial<PermissionRequest> = {}) => event({ type: "permission_request", ...EDIT, ...given });

function asked(view: View, what: Event): BlockOf<"approval"> {
  fold(view, [what]);
  return view.blocks.at(-1) as BlockOf<"approval">;
}

it("accepts edits from now on where the root is asked before it edits, and nowhere else", () => {
  const view = emptyView();
  view.root = "r";
  view.standing.approval = "ask_first";
  expect(acceptsEdits(view, asked(view, request()))).toBe(true);
  expect(acceptsEdits(view, asked(view, request({ call_id: "2", risk: "high" })))).toBe(false);
  expect(acceptsEdits(view, asked(view, request({ call_id: "3", command: "sed -i x" })))).toBe(false);
  expect(acceptsEdits(view, asked(view, { ...request({ call_id: "4" }), agent_id: "other" } as Event))).toBe(false);
  view.standing.approval = "manual";
  expect(acceptsEdits(view, asked(view, request({ call_id: "5" })))).toBe(false);
});

let root: Root;
let place: HTMLElement;

beforeEach(() => {
  place = document.body.appendChild(document.createElement("div"));
  root = createRoot(place);
});

afterEach(() => {
  root.unmount();
  place.remove();
  localStorage.clear();
});

const comes = <T,>(holds: () => T): Promise<T> => vi.waitFor(holds, { timeout: 20_000, interval: 10 });

const field = () => place.querySelector<HTMLTextAreaElement>(".composer textarea") as HTMLTextAreaElement;

function write(text: string): void {
  Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value")?.set?.call(field(), text);
  field().dispatchEvent(new window.Event("input", { bubbles: true }));
}

/** Sends what is written, once the page knows of it. */
async function enter(): Promise<void> {
  await comes(() => expect(place.querySelector<HTMLButtonElement>(".send")?.disabled).toBe(false));
  field().dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
}

/** A session in which this was asked, and what it is told. */
function draw(...events: Event[]) {
  const wire = new Wire();
  Object.defineProperty(wire.line, "state", { value: { kind: "live" } });
  const session = wire.session("s");
  session.view.root = "r";
  fold(session.view, events);
  const send = vi.spyOn(session, "send").mockResolvedValue(undefined as never);
  const say = vi.spyOn(session, "say").mockImplementation(() => {});
  root.render(
    <QueryClientProvider client={new QueryClient()}>
      <WireContext value={wire}>
        <SessionContext value={session}>
          <AskedAndField>
            <Dock />
            <Composer />
          </AskedAndField>
        </SessionContext>
      </WireContext>
    </QueryClientProvider>,
  );
  return { send, say };
}

it("answers what is asked with what is written, one thing after the other", async () => {
  const { send, say } = draw(event({ type: "question", ...QUESTION }));
  await comes(() => expect(field().placeholder).toBe("Answer, or choose above"));
  write("SQLite please");
  await comes(() => expect(place.querySelector(".send")?.getAttribute("aria-label")).toBe("Answer"));
  await enter();
  await comes(() => expect(field().placeholder).toBe("Answer the question above"));
  expect(field().value).toBe("");
  write("harbor");
  await enter();
  const reply = { kind: "choices", answers: [{ text: "SQLite please" }, { text: "harbor" }] };
  await comes(() => expect(send).toHaveBeenCalledWith({ type: "answer", question_id: "q", reply }));
  expect(say).not.toHaveBeenCalled();
});

it("keeps an answer that was not taken, and sends what was begun before the question as what it was", async () => {
  localStorage.setItem("neco.draft.s", "use tabs");
  const { send, say } = draw(event({ type: "question", ...QUESTION, items: [{ text: "What is it called?" }] }));
  send.mockRejectedValue(new Error("too late"));
  await comes(() => expect(field().value).toBe("use tabs"));
  await comes(() => expect(place.textContent).toContain("What is it called?"));
  await enter();
  await comes(() => expect(say).toHaveBeenCalledWith("use tabs", "now"));
  await comes(() => expect(field().placeholder).toBe("Answer the question above"));
  write("harbor");
  await enter();
  await comes(() => expect(place.textContent).toContain("too late"));
  expect(field().value).toBe("harbor");
});

it("answers no approval with what is written", async () => {
  const { send, say } = draw(request({ command: "make", diff: [] }));
  await comes(() => expect(place.textContent).toContain("This session allows"));
  write("yes");
  await enter();
  await comes(() => expect(say).toHaveBeenCalledWith("yes", "now"));
  expect(send).not.toHaveBeenCalled();
});

it("leaves an empty field at Escape, says so, and keeps what is written there from the keys", async () => {
  const { send } = draw(request({ command: "make", diff: [] }));
  await comes(() => expect(place.textContent).toContain("Allow once"));
  const says = () => place.querySelector(".keys-note:not(.off)")?.textContent;
  field().blur();
  await comes(() => expect(says()).toBeUndefined());
  field().focus();
  await comes(() => expect(says()).toBe("Esc leaves the field; then the keys count"));
  write("no");
  await comes(() => expect(says()).toBeUndefined());
  const stops = (): boolean => {
    const key = new KeyboardEvent("keydown", { key: "Escape", bubbles: true, cancelable: true });
    return field().dispatchEvent(key);
  };
  expect(stops()).toBe(true);
  write("");
  await comes(() => expect(says()).toBeDefined());
  expect(stops()).toBe(false);
  await comes(() => expect(document.activeElement).not.toBe(field()));
  expect(send).not.toHaveBeenCalled();
});
