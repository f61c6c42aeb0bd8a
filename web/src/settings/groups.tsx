//! Groups of models: in which order they stand in for each other, and by which strategy.

import { useState } from "react";
import { Glyph, Icon, Pick } from "../parts";
import type { ModelGroup, ModelList, ModelRow } from "../proto";
import { useFormat, useWords } from "../words";
import { useUnsaved } from "./unsaved";

const STRATEGIES = ["round_robin", "first", "cheapest"] as const;

/** Names that need no quotes in the file. */
const BARE = /^[\w-]+$/;

export function Groups({ list }: { list: ModelList }) {
  const words = useWords().settings.groupsOf;
  const unsaved = useUnsaved();
  const [name, setName] = useState("");
  const started = Array.from(unsaved.changes.keys(), (key) => /^model_groups\.([\w-]+)\.models$/.exec(key)?.[1]);
  const fresh = started.filter((name) => name !== undefined && list.groups[name] === undefined);
  const all: [string, ModelGroup][] = [
    ...Object.entries(list.groups),
    ...fresh.map((name): [string, ModelGroup] => [name ?? "", { models: [], strategy: "first" }]),
  ];
  const first = list.models.find(({ usable }) => usable)?.name;
  const canAdd = BARE.test(name) && list.groups[name] === undefined && first !== undefined;
  return (
    <section className="block-of">
      <h2>{words.title}</h2>
      <p className="lead">{words.lead}</p>
      <div className="groups">
        {all.map(([name, group]) => (
          <Group key={name} name={name} group={group} list={list} />
        ))}
      </div>
      <form
        className="acts add"
        onSubmit={(event) => {
          event.preventDefault();
          if (!canAdd) return;
          unsaved.set(`model_groups.${name}.models`, [first]);
          setName("");
        }}
      >
        <input
          className="field mono"
          type="text"
          aria-label={words.newName}
          placeholder={words.newName}
          spellCheck={false}
          value={name}
          onChange={({ target }) => setName(target.value.trim())}
        />
        <button type="submit" className="btn" disabled={!canAdd}>
          <Icon name="plus" small />
          {words.add}
        </button>
      </form>
    </section>
  );
}

function Group({ name, group, list }: { name: string; group: ModelGroup; list: ModelList }) {
  const words = useWords().settings.groupsOf;
  const unsaved = useUnsaved();
  const key = (what: string) => `model_groups.${name}.${what}`;
  const changed = unsaved.changes.get(key("models"));
  const models = Array.isArray(changed) ? changed.map(String) : group.models;
  const strategy = String(unsaved.changes.get(key("strategy")) ?? group.strategy);
  const set = (next: readonly string[]) => {
    // A group that settings do not have yet is found anew each time until it is written down as a whole.
    unsaved.set(key("models"), next);
  };
  const isChanged = unsaved.changes.has(key("models")) || unsaved.changes.has(key("strategy"));
  const others = list.models.filter(({ usable, name }) => usable && !models.includes(name));
  const strategies: Record<string, string> = words.strategies;
  return (
    <section className={isChanged ? "group changed" : "group"} aria-label={name}>
      <header>
        <b>{name}</b>
        <span className="grow" />
        <Pick
          label={words.strategy(name)}
          value={strategy}
          options={STRATEGIES.map((value) => ({ value, label: words.strategies[value] }))}
          onPick={(value) => unsaved.set(key("strategy"), value)}
        >
          {strategies[strategy] ?? strategy}
        </Pick>
        <Pick
          label={words.addModel(name)}
          value=""
          options={[
            { value: "", label: words.addModel(name) },
            ...others.map(({ name }) => ({ value: name, label: name })),
          ]}
          onPick={(model) => model !== "" && set([...models, model])}
        >
          <Icon name="plus" small />
        </Pick>
      </header>
      <ol>
        {models.map((model, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a model may stand there twice, with other parameters
          <li key={`${at} ${model}`} className="member">
            <Model model={model} list={list} />
            <span className="over">
              <button
                type="button"
                className="btn small ghost icon"
                aria-label={words.up(model)}
                title={words.up(model)}
                disabled={at === 0}
                onClick={() => set([...models.slice(0, at - 1), model, models[at - 1] ?? "", ...models.slice(at + 1)])}
              >
                <Icon name="up" small />
              </button>
              <button
                type="button"
                className="btn small ghost icon"
                aria-label={words.remove(model)}
                title={words.remove(model)}
                disabled={models.length === 1}
                onClick={() => set(models.filter((_, each) => each !== at))}
              >
                <Icon name="cross" small />
              </button>
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Model({ model, list }: { model: string; list: ModelList }) {
  const words = useWords().settings.groupsOf;
  const [name = model, parameters] = model.split("?", 2);
  const row = list.models.find((each) => each.name === name);
  const provider = list.providers.find((each) => each.name === name.split("/", 1)[0]);
  const isUsable = row?.usable ?? provider?.usable ?? false;
  return (
    <>
      {isUsable ? (
        <Glyph shape="done" tone="good" label={words.usable} />
      ) : (
        <Glyph shape="wait" tone="wait" label={words.notUsable} />
      )}
      <span className="cut" title={model}>
        <span className="mono">{name}</span> {parameters !== undefined && <span className="param">{parameters}</span>}
      </span>
      <span className="end">{isUsable ? row !== undefined && <Price of={row} /> : words.notUsable}</span>
    </>
  );
}

/** Dollars for a million tokens, in and out. */
export function Price({ of: { input_price, output_price } }: { of: ModelRow }) {
  const format = useFormat();
  if (input_price === undefined || input_price === null || output_price === undefined) return null;
  if (input_price === 0 && output_price === 0) return null;
  return `${format.cost(input_price)} / ${format.cost(output_price)}`;
}
