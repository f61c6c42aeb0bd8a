//! The palette: sessions, what was said in them, and what can be done, by a few letters.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { useLocation } from "wouter";
import { Dialog, Icon, type IconName } from "../parts";
import type { FoundPlace } from "../proto";
import { nameOf } from "../sessions";
import { findPlaces, useRows } from "../wire";
import { useFormat, useWords } from "../words";

export type Action = { name: string; icon: IconName; run: () => void };

type Item = { key: string; icon: IconName; text: ReactNode; below?: string; about: string; run: () => void };

/** Letters with which it is looked for what was said. */
const ENOUGH = 3;

/** Sessions that are shown of those that fit. */
const MOST = 8;

type Given = { actions: readonly Action[]; given: string; onClose: () => void };

export function Palette({ actions, given, onClose }: Given) {
  const words = useWords();
  const [text, setText] = useState(given);
  const [at, setAt] = useState(0);
  const items = useItems(text, actions);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other letters begin at the first
  useEffect(() => setAt(0), [text]);

  const run = (item: Item | undefined) => {
    if (item === undefined) return;
    onClose();
    item.run();
  };
  const move = (by: number) => setAt((now) => (now + by + items.length) % Math.max(items.length, 1));
  return (
    <Dialog label={words.palette.label} className="palette" onClose={onClose}>
      <div className="q">
        <Icon name="find" />
        <input
          type="text"
          role="combobox"
          aria-label={words.palette.label}
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={items[at] === undefined ? undefined : `palette-${at}`}
          placeholder={words.palette.placeholder}
          spellCheck={false}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.nativeEvent.isComposing || event.keyCode === 229) return;
            if (event.key === "ArrowDown") move(1);
            else if (event.key === "ArrowUp") move(-1);
            else if (event.key === "Enter") run(items[at]);
            else return;
            event.preventDefault();
          }}
        />
      </div>
      <div id="palette-list" role="listbox" aria-label={words.palette.label}>
        {items.map((item, index) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the field has the focus, and names the chosen one
          // biome-ignore lint/a11y/useKeyWithClickEvents: the same
          <div
            key={item.key}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === at}
            className={item.below === undefined ? "row" : "row two"}
            ref={(row) => {
              if (index === at) row?.scrollIntoView({ block: "nearest" });
            }}
            onMouseMove={() => setAt(index)}
            onClick={() => run(item)}
          >
            <Icon name={item.icon} />
            <span className="grow">
              <span className="cut one">{item.text}</span>
              {item.below !== undefined && <small className="cut">{item.below}</small>}
            </span>
            <span className="when">{item.about}</span>
          </div>
        ))}
      </div>
      {items.length === 0 && <p className="dim pad">{words.palette.nothing}</p>}
    </Dialog>
  );
}

function useItems(text: string, actions: readonly Action[]): Item[] {
  const words = useWords();
  const format = useFormat();
  const [, go] = useLocation();
  const sessions = useRows() ?? [];
  const sought = text.trim();
  const { data } = useQuery({
    queryKey: ["said", sought],
    queryFn: () => findPlaces(sought),
    enabled: sought.length >= ENOUGH,
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  });
  const fits = (name: string) => name.toLowerCase().includes(sought.toLowerCase());
  const places = sought.length >= ENOUGH ? (data?.places ?? []).filter(({ role }) => role !== "title") : [];
  return [
    ...sessions
      .filter(({ title, cwd }) => fits(`${title} ${nameOf(cwd)}`))
      .slice(0, MOST)
      .map(({ id, title, cwd }) => ({
        key: id,
        icon: "chat" as const,
        text: <Marked text={title || words.untitled} sought={sought} />,
        about: nameOf(cwd),
        run: () => go(`/s/${id}`),
      })),
    ...places.map((place) => ({
      key: `${place.session_id}/${place.seq}`,
      icon: "note" as const,
      text: <Marked text={place.text} sought={sought} />,
      below: place.title || words.untitled,
      about: `${words.palette.said(whoOf(place))} · ${format.date(Date.parse(place.time))}`,
      run: () => go(`/s/${place.session_id}?at=${place.seq}`),
    })),
    ...actions
      .filter(({ name }) => fits(name))
      .map(({ name, icon, run }) => ({
        key: name,
        icon,
        text: <Marked text={name} sought={sought} />,
        about: words.palette.does,
        run,
      })),
  ];
}

function whoOf({ role }: FoundPlace): "you" | "neco" | "tool" {
  return role === "user" ? "you" : role === "tool" ? "tool" : "neco";
}

function Marked({ text, sought }: { text: string; sought: string }) {
  const at = sought === "" ? -1 : text.toLowerCase().indexOf(sought.toLowerCase());
  if (at < 0) return text;
  return (
    <>
      {text.slice(0, at)}
      <b>{text.slice(at, at + sought.length)}</b>
      {text.slice(at + sought.length)}
    </>
  );
}
