//! What somebody wrote: marks around code are understood, and nothing else.

import type { ReactNode } from "react";

export function withCode(text: string): ReactNode {
  return text.split(/(`[^`\n]+`)/).map((piece, at) => {
    const isCode = at % 2 === 1;
    // biome-ignore lint/suspicious/noArrayIndexKey: what was said does not change
    return isCode ? <code key={at}>{piece.slice(1, -1)}</code> : <span key={at}>{piece}</span>;
  });
}
