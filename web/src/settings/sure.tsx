//! A button for what can't be taken back.

import { useState } from "react";
import { useWords } from "../words";

type Given = { label: string; name: string; isOff: boolean; onSure: () => unknown };

/** A button that wants to be pressed twice. */
export function Sure({ label, name, isOff, onSure }: Given) {
  const words = useWords().settings;
  const [isSure, setSure] = useState(false);
  return (
    <button
      type="button"
      className="btn small danger"
      disabled={isOff}
      aria-label={isSure ? `${words.sure}: ${name}` : `${label}: ${name}`}
      onBlur={() => setSure(false)}
      onClick={() => (isSure ? onSure() : setSure(true))}
    >
      {isSure ? words.sure : label}
    </button>
  );
}
