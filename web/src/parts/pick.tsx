//! A choice that looks like a word and opens the list that the system has for it: by keyboard and by touch the same.

import type { ReactNode } from "react";
import { Icon } from "./icon";

type Option = { value: string; label: string };

type Given = {
  label: string;
  value: string;
  options: readonly (Option | { label: string; options: readonly Option[] })[];
  onPick: (value: string) => void;
  disabled?: boolean;
  wide?: boolean;
  children: ReactNode;
};

export function Pick({ label, value, options, onPick, disabled, wide, children }: Given) {
  const option = ({ value, label }: Option) => (
    <option key={value} value={value}>
      {label}
    </option>
  );
  return (
    <span className={wide ? "pick wide" : "pick"}>
      {children}
      <Icon name="down" small />
      <select
        aria-label={label}
        title={label}
        value={value}
        disabled={disabled}
        onChange={(event) => onPick(event.target.value)}
      >
        {options.map((each) =>
          "options" in each ? (
            <optgroup key={each.label} label={each.label}>
              {each.options.map(option)}
            </optgroup>
          ) : (
            option(each)
          ),
        )}
      </select>
    </span>
  );
}
