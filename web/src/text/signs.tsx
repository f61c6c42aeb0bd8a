//! A text with the characters in it that can't be seen written out.

import type { ReactNode } from "react";
import { hasUnseen, visible } from "./visible";

export function signs(text: string): ReactNode {
  if (!hasUnseen(text)) return text;
  let at = 0;
  return visible(text).map((piece) => {
    const key = at;
    at += piece.text.length;
    return piece.isSign ? (
      <mark key={key} className="sign">
        ⟪{piece.text}⟫
      </mark>
    ) : (
      <span key={key}>{piece.text}</span>
    );
  });
}
