//! Which key does what: the usual ones, and those that somebody chose instead.

/** What can be done by a key that may be another one, by where that holds, with its usual key. */
export const GROUPS = {
  everywhere: {
    palette: "Mod-k",
    new: "Alt-n",
    search: "/",
    above: "Alt-ArrowUp",
    below: "Alt-ArrowDown",
    help: "?",
  },
  session: {
    toChat: "g c",
    toChanges: "g d",
    toAgents: "g a",
    toFiles: "g f",
    toTerminal: "g t",
    toPrompt: "g p",
    details: ".",
    end: "End",
    copy: "Alt-c",
  },
  agents: { pause: "p", stopAgent: "x", fit: "f" },
  review: {
    before: "[",
    after: "]",
    fileBefore: "{",
    fileAfter: "}",
    keep: "k",
    revert: "x",
    comment: "c",
    keepAll: "K",
  },
  asked: {
    once: "y",
    forSession: "s",
    always: "a",
    edit: "e",
    reject: "n",
    revise: "r",
    allowAll: "Y",
    rejectAll: "N",
  },
} as const;

export type KeyGroup = keyof typeof GROUPS;

/** Something that is done by a key. */
export type KeyAct = { [G in KeyGroup]: keyof (typeof GROUPS)[G] }[KeyGroup];

/** The key of each; an empty one where it has none. */
export type KeyMap = Readonly<Record<KeyAct, string>>;

export const USUAL = Object.assign({}, ...Object.values(GROUPS)) as KeyMap;

export const isKeyAct = (name: string): name is KeyAct => Object.hasOwn(USUAL, name);

/** The keys that hold, with what was kept of those that somebody chose. */
export function keysIn(kept: string | null): KeyMap {
  if (kept === null) return USUAL;
  try {
    const chosen = Object.entries(JSON.parse(kept) as object);
    const known = chosen.filter(([act, key]) => isKeyAct(act) && typeof key === "string");
    return { ...USUAL, ...Object.fromEntries(known) };
  } catch {
    return USUAL;
  }
}

/** What is kept when one thing has another key; nothing where all are the usual ones. */
export function withKey(keys: KeyMap, act: KeyAct, key: string): string | null {
  const own = Object.entries({ ...keys, [act]: key }).filter(([each, key]) => isKeyAct(each) && key !== USUAL[each]);
  return own.length === 0 ? null : JSON.stringify(Object.fromEntries(own));
}

/** What a key does already where `act` counts, too. */
export function clashOf(keys: KeyMap, act: KeyAct, key: string): KeyAct | undefined {
  const others = (Object.keys(keys) as KeyAct[]).filter((other) => other !== act && keys[other] === key);
  return others.find((other) => meet(groupOf(act), groupOf(other)));
}

function groupOf(act: KeyAct): KeyGroup {
  return (Object.keys(GROUPS) as KeyGroup[]).find((group) => act in GROUPS[group]) ?? "everywhere";
}

/** The changes and the agents are never seen at once; all else is. */
function meet(one: KeyGroup, other: KeyGroup): boolean {
  const both = [one, other];
  return !(both.includes("review") && both.includes("agents"));
}

/** Keys that mean the same everywhere, in the page or in the browser. */
const FIXED = new Set([
  ...["Escape", "Enter", "Tab", "Backspace", "Delete", "Insert", "Home", "PageUp", "PageDown", " ", "g"],
  ...["1", "2", "3", "4", "5", "6", "7", "8", "9"],
  ...["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "F1", "F3", "F5", "F6", "F7", "F11", "F12"],
  ...Array.from("acflnpqrstvwxz", (letter) => `Mod-${letter}`),
]);

/** Whether a key can't be given to anything else. */
export const isFixed = (key: string): boolean => FIXED.has(key);

const isMac = (): boolean => /Mac|iPhone|iPad/.test(navigator.platform);

const SIGNS: Record<string, string> = { ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→", " ": "Space" };

/** A key as people read it, such as `Ctrl` `K`. */
export function readable(key: string): string[] {
  if (key.startsWith("g ")) return ["g", key.slice(2)];
  const [, mods = "", name = ""] = /^((?:Mod-|Alt-)*)(.*)$/.exec(key) ?? [];
  const held = mods.split("-").filter(Boolean);
  const named = held.map((mod) => (mod === "Mod" ? (isMac() ? "⌘" : "Ctrl") : mod));
  const last = SIGNS[name] ?? (held.length > 0 && name.length === 1 ? name.toUpperCase() : name);
  return last === "" ? named : [...named, last];
}
