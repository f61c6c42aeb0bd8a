//! The key of something as a button: pressed, it waits for another key.

import { Fragment, type KeyboardEvent, useState } from "react";
import { clashOf, isFixed, type KeyAct, keyName, readable, useKeyMap } from "../parts";
import { useWords } from "../words";

/** What is said of a key that was pressed. */
export type Told = { words: string; isRefusal?: boolean } | undefined;

/** Keys that are only held while another one is pressed. */
const HELD = new Set(["Shift", "Control", "Alt", "AltGraph", "Meta", "CapsLock", "Dead", "Process", "Unidentified"]);

export function KeyButton({ act, onTold }: { act: KeyAct; onTold: (told: Told) => void }) {
  const words = useWords().keys;
  const { keys, isOwn, give } = useKeyMap();
  const [waits, setWaits] = useState<"key" | "second">();
  const does = words.does[act];

  const leave = () => {
    setWaits(undefined);
    onTold(undefined);
  };
  const take = (key: string) => {
    const shown = readable(key).join(" ");
    const other = clashOf(keys, act, key);
    if (isFixed(key)) return onTold({ words: words.fixed(shown), isRefusal: true });
    if (key !== "" && other !== undefined) {
      return onTold({ words: words.taken(shown, words.does[other]), isRefusal: true });
    }
    give(act, key);
    setWaits(undefined);
    onTold({ words: words.given(does, shown) });
  };
  const second = (key: string) => {
    if (key.length === 1) take(`g ${key}`);
  };
  const press = (event: KeyboardEvent) => {
    if (waits === undefined || event.key === "Tab" || HELD.has(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    const key = keyName(event.nativeEvent);
    if (key === "Escape") leave();
    else if (key === "Backspace" || key === "Delete") take("");
    else if (waits === "second") second(key);
    else if (key === "g") setWaits("second");
    else take(key);
  };

  return (
    <button
      type="button"
      className={isOwn(act) ? "key-of own" : "key-of"}
      aria-label={waits === undefined ? words.changeOf(does, readable(keys[act]).join(" ")) : undefined}
      aria-pressed={waits !== undefined}
      title={isOwn(act) ? words.own : undefined}
      onBlur={() => waits !== undefined && leave()}
      onKeyDown={press}
      onClick={() => {
        setWaits("key");
        onTold({ words: words.pressNow(does) });
      }}
    >
      {waits === undefined ? (
        <Shown keys={readable(keys[act])} none={words.none} />
      ) : (
        <Waits isSecond={waits === "second"} />
      )}
    </button>
  );
}

function Shown({ keys, none }: { keys: readonly string[]; none: string }) {
  if (keys.length === 0) return <span className="dim">{none}</span>;
  return keys.map((key, at) => (
    <Fragment key={key}>
      {at > 0 && " "}
      <kbd>{key}</kbd>
    </Fragment>
  ));
}

function Waits({ isSecond }: { isSecond: boolean }) {
  const words = useWords().keys;
  return (
    <>
      {isSecond && <kbd>g</kbd>} <span className="live">{isSecond ? "…" : words.press}</span>
    </>
  );
}
