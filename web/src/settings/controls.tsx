//! With what a setting is set: one control for each kind of value.

import { useState } from "react";
import { Icon } from "../parts";
import type { Json } from "../proto";
import { useWords } from "../words";
import type { Control } from "./value";

type Given = {
  control: Control;
  label: string;
  /** Nothing where nobody set it. */
  value: Json | undefined;
  isWrong: boolean;
  onValue: (value: Json) => void;
};

export function ControlOf({ control, ...given }: Given) {
  switch (control.kind) {
    case "switch":
      return <SwitchControl {...given} />;
    case "number":
      return <NumberControl {...given} control={control} />;
    case "choice":
      return <ChoiceControl {...given} choices={control.choices} />;
    case "list":
      return <ListControl {...given} />;
    case "text":
      return <TextControl {...given} />;
    case "file":
      return null;
  }
}

type Part = Omit<Given, "control">;

/** Yes or no; until somebody decided, neither. */
function SwitchControl({ label, value, isWrong, onValue }: Part) {
  const words = useWords().settings;
  if (typeof value !== "boolean") {
    const choice = { [words.yes]: true, [words.no]: false };
    return (
      <ChoiceControl
        label={label}
        value={undefined}
        isWrong={isWrong}
        choices={[words.yes, words.no]}
        onValue={(name) => onValue(choice[String(name)] ?? null)}
      />
    );
  }
  return (
    <button
      type="button"
      role="switch"
      className="switch"
      aria-label={label}
      aria-checked={value}
      onClick={() => onValue(!value)}
    >
      <i />
      {value ? words.yes : words.no}
    </button>
  );
}

function NumberControl({
  label,
  value,
  isWrong,
  onValue,
  control,
}: Part & { control: Extract<Control, { kind: "number" }> }) {
  const words = useWords().settings;
  // What is written may be the beginning of a number, such as `1.`.
  const [text, setText] = useState("");
  const isWritten = numberIn(text) === (value ?? null);
  return (
    <input
      className="field num"
      type="text"
      inputMode={control.whole ? "numeric" : "decimal"}
      aria-label={label}
      aria-invalid={isWrong}
      placeholder={words.notSet}
      value={isWritten ? text : value === undefined || value === null ? "" : String(value)}
      onChange={({ target }) => {
        setText(target.value);
        onValue(numberIn(target.value));
      }}
      onKeyDown={({ key }) => {
        const by = key === "ArrowUp" ? 1 : key === "ArrowDown" ? -1 : 0;
        const next = Number(value) + by;
        const isIn = next >= (control.least ?? -Infinity) && next <= (control.most ?? Infinity);
        if (by !== 0 && Number.isFinite(next) && isIn) onValue(next);
      }}
    />
  );
}

/** What is no number stays text, which the server has an opinion on; what is empty is taken out. */
function numberIn(text: string): Json {
  const words = text.trim();
  if (words === "") return null;
  return /^-?\d+(?:\.\d*)?$/.test(words) ? Number(words) : words;
}

function ChoiceControl({ label, value, isWrong, onValue, choices }: Part & { choices: readonly string[] }) {
  const words = useWords().settings;
  const now = typeof value === "string" ? value : "";
  return (
    <span className="choose">
      <select
        className="field"
        aria-label={label}
        aria-invalid={isWrong}
        value={now}
        onChange={({ target }) => onValue(target.value === "" ? null : target.value)}
      >
        {now === "" && <option value="">{words.notSet}</option>}
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
      <Icon name="down" small />
    </span>
  );
}

function TextControl({ label, value, isWrong, onValue }: Part) {
  const words = useWords().settings;
  return (
    <input
      className="field mono"
      type="text"
      aria-label={label}
      aria-invalid={isWrong}
      placeholder={words.notSet}
      spellCheck={false}
      autoComplete="off"
      value={typeof value === "string" ? value : ""}
      onChange={({ target }) => onValue(target.value === "" ? null : target.value)}
    />
  );
}

/** Items one below the other, and a field for the next. */
function ListControl({ label, value, isWrong, onValue }: Part) {
  const words = useWords().settings;
  const [next, setNext] = useState("");
  const items: readonly Json[] = Array.isArray(value) ? value : [];
  const add = () => {
    const item = next.trim();
    if (item === "") return;
    onValue([...items, item]);
    setNext("");
  };
  return (
    <fieldset className="items" aria-label={label}>
      {items.map((item, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same item may stand there twice
        <span key={`${at} ${item}`} className="keychip">
          {String(item)}
          <button
            type="button"
            aria-label={words.removeItem(String(item))}
            title={words.removeItem(String(item))}
            onClick={() => onValue(items.filter((_, each) => each !== at))}
          >
            <Icon name="cross" small />
          </button>
        </span>
      ))}
      <input
        className="field mono"
        type="text"
        aria-label={words.addItem(label)}
        aria-invalid={isWrong}
        placeholder={words.nextItem}
        spellCheck={false}
        value={next}
        onChange={({ target }) => setNext(target.value)}
        onBlur={add}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.nativeEvent.isComposing) return;
          event.preventDefault();
          add();
        }}
      />
    </fieldset>
  );
}
