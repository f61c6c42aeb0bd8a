//! Keys: the usual ones, and those that somebody chose instead.
// @vitest-environment happy-dom

import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { KeysPage } from "../src/app/keys-page";
import { clashOf, GROUPS, isFixed, type KeyAct, keysIn, readable, USUAL, withKey } from "../src/parts/keymap";
import { type Keys, keyName, useKeys } from "../src/parts/keys";
import { store, stored } from "../src/parts/stored";

function Page({ keys }: { keys: Keys }) {
  useKeys(keys);
  return null;
}

describe("the map", () => {
  const acts = Object.keys(USUAL) as KeyAct[];

  it("has usual keys that do not clash, and none that is fixed", () => {
    const groups = Object.values(GROUPS).flatMap((group) => Object.keys(group));
    expect(groups.sort()).toEqual([...acts].sort());
    for (const act of acts) expect([act, clashOf(USUAL, act, USUAL[act])]).toEqual([act, undefined]);
    expect(acts.filter((act) => isFixed(USUAL[act]))).toEqual([]);
  });

  it("says what has a key already, where both count", () => {
    expect(clashOf(USUAL, "once", "k")).toBe("keep");
    expect(clashOf(USUAL, "once", "Mod-k")).toBe("palette");
    expect(clashOf(USUAL, "fit", "k")).toBeUndefined();
  });

  it("keeps what differs from the usual, and reads nothing that it does not know", () => {
    const kept = withKey(USUAL, "once", "u");
    expect(kept).toBe('{"once":"u"}');
    expect(keysIn(kept)).toEqual({ ...USUAL, once: "u" });
    expect(withKey(keysIn(kept), "once", "y")).toBeNull();
    expect(keysIn('{"once":7,"gone":"q","reject":""}')).toEqual({ ...USUAL, reject: "" });
    expect(keysIn("nonsense")).toEqual(USUAL);
  });

  it("is read by people", () => {
    expect(["Mod-k", "Alt-ArrowUp", "g c", "K", "Mod--", ""].map((key) => readable(key).join(" "))).toEqual([
      "Ctrl K",
      "Alt ↑",
      "g c",
      "K",
      "Ctrl -",
      "",
    ]);
  });
});

it("names a key by what it writes, also where that takes AltGr", () => {
  const held = (key: string, code: string, held: string[]) =>
    keyName({
      key,
      code,
      ctrlKey: held.includes("Control"),
      altKey: held.includes("Alt"),
      metaKey: held.includes("Meta"),
      getModifierState: (name) => held.includes(name),
    });
  expect(held("K", "KeyK", ["Shift"])).toBe("K");
  expect(held("k", "KeyK", ["Meta"])).toBe("Mod-k");
  expect(held("ñ", "KeyN", ["Alt"])).toBe("Alt-n");
  expect(held("[", "Digit8", ["Control", "Alt", "AltGraph"])).toBe("[");
});

describe("on the page", () => {
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

  const press = (target: EventTarget, key: string) =>
    target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));

  it("does what a key is for now", async () => {
    const once = vi.fn();
    const toChat = vi.fn();
    root.render(<Page keys={{ once, toChat }} />);
    await vi.waitFor(() => {
      press(window, "y");
      expect(once).toHaveBeenCalled();
    });
    store("keys", withKey(keysIn(withKey(USUAL, "once", "u")), "toChat", "g u"));
    once.mockClear();
    press(window, "y");
    expect(once).not.toHaveBeenCalled();
    press(window, "u");
    expect(once).toHaveBeenCalledOnce();
    press(window, "g");
    press(window, "u");
    expect([once.mock.calls.length, toChat.mock.calls.length]).toEqual([1, 1]);
    once.mockClear();
    store("letters", "off");
    press(window, "u");
    expect(once).not.toHaveBeenCalled();
  });

  it("gives another key to what is pressed, refuses one that is taken, and goes back to the usual ones", async () => {
    root.render(<KeysPage onClose={() => {}} />);
    const button = await vi.waitFor(() => {
      const found = place.querySelector<HTMLButtonElement>("[aria-label^='allow once']");
      if (found === null) throw new Error("no key is there");
      return found;
    });
    const says = (words: string) => vi.waitFor(() => expect(place.textContent).toContain(words));
    button.click();
    await says("Press the key for: allow once");
    press(button, "Shift");
    press(button, "k");
    await says("k is taken already: keep the change");
    press(button, "5");
    await says("5 can't be given to anything");
    press(button, "u");
    await says("u is now for: allow once");
    expect(stored("keys")).toBe('{"once":"u"}');

    button.click();
    await says("Press the key for");
    press(button, "g");
    await says("…");
    press(button, "y");
    await says("g y is now for");
    button.click();
    await says("Press the key for");
    press(button, "Backspace");
    await says("No key any more: allow once");
    button.click();
    await says("Press the key for");
    press(button, "Escape");
    await says("Choose a key below");
    expect(stored("keys")).toBe('{"once":""}');

    Array.from(place.querySelectorAll("button")).at(-1)?.click();
    await says("All keys are the usual ones again");
    expect(stored("keys")).toBeNull();
  });
});
