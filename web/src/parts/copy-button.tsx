//! A button that copies a text, and says so.

import { useEffect, useState } from "react";
import { useWords } from "../words";
import { Icon } from "./icon";

export function CopyButton({ text, small = true }: { text: string; small?: boolean }) {
  const words = useWords();
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), 1500);
    return () => clearTimeout(timer);
  }, [done]);
  return (
    <button
      type="button"
      className={small ? "btn small ghost icon" : "btn ghost icon"}
      aria-label={done ? words.copied : words.copy}
      title={done ? words.copied : words.copy}
      onClick={() =>
        navigator.clipboard.writeText(text).then(
          () => setDone(true),
          () => {},
        )
      }
    >
      <Icon name={done ? "check" : "copy"} small />
    </button>
  );
}
