//! The field itself: Enter sends, unless a word is still being put together.

import { type RefObject, useLayoutEffect, useRef } from "react";

type Given = {
  ref: RefObject<HTMLTextAreaElement | null>;
  label: string;
  placeholder: string;
  text: string;
  onText: (text: string) => void;
  onSend: () => void;
  /** Keys that do something else than usual when these give true. */
  onTab?: () => boolean;
  onBackTab?: () => void;
  onUp?: () => boolean;
  onEscape?: () => boolean;
  onFocused?: (isFocused: boolean) => void;
};

export function Field(given: Given) {
  const { ref, label, placeholder, text, onText, onSend, onTab, onBackTab, onUp, onEscape, onFocused } = given;
  // Some browsers end a word before the Enter that ended it is told: the frame after it belongs to the word.
  const composed = useRef(false);

  // Where a field does not grow by itself.
  // biome-ignore lint/correctness/useExhaustiveDependencies: its height follows from the text
  useLayoutEffect(() => {
    const area = ref.current;
    if (area === null || CSS.supports("field-sizing", "content")) return;
    area.style.height = "auto";
    area.style.height = `${area.scrollHeight}px`;
  }, [ref, text]);

  return (
    <textarea
      ref={ref}
      className="text"
      aria-label={label}
      placeholder={placeholder}
      rows={1}
      value={text}
      enterKeyHint="send"
      onFocus={() => onFocused?.(true)}
      onBlur={() => onFocused?.(false)}
      onChange={(event) => onText(event.target.value)}
      onCompositionEnd={() => {
        composed.current = true;
        requestAnimationFrame(() => {
          composed.current = false;
        });
      }}
      onKeyDown={(event) => {
        if (event.nativeEvent.isComposing || event.keyCode === 229 || composed.current) return;
        const done = pressed(event);
        if (done) event.preventDefault();
      }}
    />
  );

  function pressed(event: React.KeyboardEvent): boolean {
    switch (event.key) {
      case "Enter":
        if (event.shiftKey || event.altKey) return false;
        onSend();
        return true;
      case "Tab":
        if (event.shiftKey && onBackTab !== undefined) {
          onBackTab();
          return true;
        }
        return !event.shiftKey && (onTab?.() ?? false);
      case "ArrowUp":
        return onUp?.() ?? false;
      case "Escape":
        return onEscape?.() ?? false;
      default:
        return false;
    }
  }
}
