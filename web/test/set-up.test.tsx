// @vitest-environment happy-dom
//! Keys and settings as they are written, with a server that says yes or no.

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Route } from "wouter";
import { Wire, WireContext } from "../src/wire";

vi.setConfig({ testTimeout: 60_000 });

type Answer = { status?: number; body: unknown };

/** What the server was told, and what it says to that. */
let told: [verb: string, path: string, body: unknown][];
let says: (verb: string, path: string, body: unknown) => Answer;
let root: Root;
let place: HTMLElement;

beforeEach(() => {
  told = [];
  says = () => ({ status: 404, body: { detail: "nothing is there" } });
  vi.stubGlobal("fetch", async (address: string, { method, body }: { method: string; body: string | null }) => {
    const path = String(address).replace("/api/v1", "");
    const given: unknown = body === null ? undefined : JSON.parse(body);
    told.push([method, path, given]);
    const answer = says(method, path, given);
    return new Response(JSON.stringify(answer.body), { status: answer.status ?? 200 });
  });
  place = document.body.appendChild(document.createElement("div"));
  root = createRoot(place);
});

afterEach(() => {
  root.unmount();
  place.remove();
  vi.unstubAllGlobals();
});

function draw(what: ReactNode): void {
  const wire = new Wire();
  Object.defineProperty(wire.line, "state", { value: { kind: "live" } });
  root.render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <WireContext value={wire}>{what}</WireContext>
    </QueryClientProvider>,
  );
}

/** Waits for what comes, however busy the machine is. */
const comes = <T,>(holds: () => T): Promise<T> => vi.waitFor(holds, { timeout: 20_000, interval: 10 });

const seen = (words: string) => comes(() => expect(place.textContent).toContain(words));

const found = <E extends Element>(what: string): Promise<E> =>
  comes(() => {
    const element = place.querySelector<E>(what);
    if (element === null) throw new Error(`there is no ${what}`);
    return element;
  });

function write(field: Element, text: string): void {
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set?.call(field, text);
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

/** Presses a button once it can be. */
const press = (name: string): Promise<void> =>
  comes(() => {
    const named = Array.from(place.querySelectorAll("button")).filter((each) => each.textContent?.includes(name));
    const button = named.find((each) => !each.disabled);
    if (button === undefined) throw new Error(`${name} can't be pressed`);
    button.click();
  });

it("keeps no key that the provider refuses, says what to do, and forgets the one that it took", async () => {
  const { KeyForm } = await import("../src/models");
  const kept = vi.fn();
  says = (_, __, body) =>
    (body as { key: string }).key === "sk-good"
      ? { body: { keys: 1, new: true, replaced: 0, file: "keys.toml", test: "works" } }
      : { status: 503, body: { detail: "harbor refuses this key; it was not saved", hint: "Copy it again, whole." } };
  draw(<KeyForm provider="harbor" folder="/w" onKept={kept} />);
  const field = await found<HTMLInputElement>("input");
  expect(field.type).toBe("password");

  write(field, "two words");
  await seen("A key has no spaces");
  expect(place.querySelector<HTMLButtonElement>("button[type=submit]")?.disabled).toBe(true);

  write(field, "sk-bad");
  await press("Test and keep");
  await seen("harbor refuses this key; it was not saved");
  await seen("Copy it again, whole.");
  expect(kept).not.toHaveBeenCalled();

  write(field, " sk-good ");
  await press("Test and keep");
  await comes(() => expect(kept).toHaveBeenCalledOnce());
  expect(told.at(-1)).toEqual(["PUT", "/keys/harbor", { folder: "/w", key: "sk-good", replace: false, check: true }]);
  await comes(() => expect(field.value).toBe(""));
});

it("asks a model before it is kept, and keeps none that can't be asked", async () => {
  const { FirstModel } = await import("../src/models");
  const done = vi.fn();
  says = (verb, path) => {
    if (path.startsWith("/models/offers")) {
      const servers = [{ provider: "ollama", base: "http://localhost:11434/v1", models: ["small", "big"] }];
      return { body: { servers, providers: [{ name: "harbor", variables: [], sources: [] }] } };
    }
    if (path === "/models/served") return { body: { provider: "ollama", models: ["small", "big"], needs_key: false } };
    if (path === "/models/ollama%2Fbig/test")
      return { body: { name: "ollama/big", ok: false, problem: "too big", code: 4002 } };
    if (path === "/models/ollama%2Fsmall/test") return { body: { name: "ollama/small", ok: true, duration_ms: 3 } };
    return verb === "PUT" ? { body: { file: "config.toml", from: "session" } } : { status: 404, body: {} };
  };
  draw(<FirstModel folder="/w" onDone={done} onBusy={() => {}} />);
  await seen("ollama");
  await press("ollama");
  await seen("Which model of ollama?");
  await seen("big");
  await press("big");
  await seen("ollama/big can't be used: too big");
  expect(told.some(([verb]) => verb === "PUT")).toBe(false);
  await press("small");
  await comes(() => expect(done).toHaveBeenCalledWith("ollama/small"));
  expect(told.find(([verb]) => verb === "PUT")).toEqual([
    "PUT",
    "/settings",
    { folder: "/w", settings: [{ key: "model", value: "ollama/small" }] },
  ]);
});

it("shows a change before it is written, lets nothing wrong through, and says from when on it holds", async () => {
  const { SettingsPage } = await import("../src/settings");
  history.replaceState(null, "", "/settings/limits?folder=/w");
  const turns = {
    key: "agent.max_turns",
    value: "40",
    layer: "user",
    origins: ["~/.config/neco/config.toml:2:13"],
    takes: "a whole number of at least 1",
    meaning: "Most turns.",
  };
  says = (verb, path) => {
    const { pathname, searchParams } = new URL(path, "http://neco");
    if (pathname === "/settings/check") {
      return searchParams.get("written")?.includes("many")
        ? { status: 400, body: { detail: "agent.max_turns: expected a whole number" } }
        : { body: { settings: [], loosens: true } };
    }
    if (pathname === "/settings/files") return { body: { own: "~/.config/neco/config.toml", files: [] } };
    if (pathname === "/settings/preview") {
      const diff = "@@ -1,2 +1,2 @@\n [agent]\n-max_turns = 40\n+max_turns = 80\n";
      return { body: { file: "~/.config/neco/config.toml", exists: true, diff, from: "session" } };
    }
    if (verb === "PUT") return { body: { file: "~/.config/neco/config.toml", from: "session" } };
    if (pathname === "/settings") return { body: { settings: [turns], unset: [] } };
    return { body: { folders: [] } };
  };
  draw(
    <Route path="/settings/*?">
      <SettingsPage />
    </Route>,
  );
  await seen("yours~/.config/neco/config.toml:2:13");
  const field = await found("[aria-label='agent.max_turns']");
  const save = () => place.querySelector<HTMLButtonElement>(".saving .btn.solid");

  write(field, "many");
  await seen("expected a whole number");
  expect(save()?.disabled).toBe(true);

  write(field, "80");
  await seen("max_turns = 80");
  await seen("Agents can do more with this");
  expect(place.querySelector(".l.d")?.textContent).toContain("max_turns = 40");
  expect(told.some(([verb]) => verb === "PUT")).toBe(false);
  await comes(() => expect(save()?.disabled).toBe(false));
  await press("Save");
  await seen("It holds from the next session.");
  expect(told.find(([verb]) => verb === "PUT")).toEqual([
    "PUT",
    "/settings",
    { folder: "/w", settings: [{ key: "agent.max_turns", value: 80 }] },
  ]);
});

it("shows a token once, says whose place it takes, removes one when pressed twice, and tells what was done", async () => {
  const { Devices } = await import("../src/settings/devices");
  const names = ["phone"];
  says = (verb, path, body) => {
    if (path.startsWith("/audit")) {
      const isOlder = path.includes("cursor=older");
      const line = isOlder
        ? {
            at: "2026-01-01T00:00:00Z",
            by: null,
            does: "GET /sessions",
            refused: "a token is needed",
            from: "10.0.0.7",
          }
        : { at: "2026-01-02T00:00:00Z", by: { kind: "device", name: "phone" }, does: "sessions.open", session: "s1" };
      return { body: { lines: [line], ...(!isOlder && { next: "older" }) } };
    }
    if (verb === "POST") names.push((body as { name: string }).name);
    if (verb === "DELETE") names.shift();
    if (verb === "POST") return { body: { token: "neco_secret" } };
    return { body: { tokens: names.map((name) => ({ name, scope: "work" })) } };
  };
  draw(<Devices />);
  await seen("steer");
  const field = await found<HTMLInputElement>("input");
  write(field, "phone");
  await seen("phone has a token: the new one takes its place");
  write(field, " tablet ");
  await press("Make it");
  await seen("neco_secret");
  expect(told.find(([verb]) => verb === "POST")).toEqual(["POST", "/tokens", { name: "tablet", scope: "read" }]);
  await press("I have it");
  await comes(() => expect(place.textContent).not.toContain("neco_secret"));

  await press("Remove");
  await press("Press again");
  await comes(() => expect(place.querySelector(".who")?.textContent).toBe("tablet"));
  expect(told.some(([verb, path]) => verb === "DELETE" && path === "/tokens/phone")).toBe(true);

  expect(place.querySelector("a[href='/s/s1']")).not.toBeNull();
  await press("Show older ones");
  await seen("Somebody unknown");
  await seen("a token is needed");
  await seen("from 10.0.0.7");
});
