//! Whether a question may be answered: it has been in view for a moment, and the page was not just clicked awake.

import { type RefObject, useEffect, useRef, useState } from "react";

/** How long something is seen before a key answers it. */
const SEEN = 300;

/** How long after the page was focused a click belongs to that. */
const AWAKE = 300;

let awake = Number.NEGATIVE_INFINITY;

addEventListener("focus", () => {
  awake = performance.now();
});

/** Whether a click just brought the page to the front: it answers nothing. */
export const isWakingClick = (): boolean => performance.now() - awake < AWAKE;

/** True once an element was in view long enough; it begins anew with every `key`. */
export function useReady(element: RefObject<HTMLElement | null>, key: number): () => boolean {
  const [, draw] = useState(0);
  const seen = useRef<{ key: number; since: number | undefined }>({ key, since: undefined });
  if (seen.current.key !== key) seen.current = { key, since: undefined };
  // biome-ignore lint/correctness/useExhaustiveDependencies: another question is looked at anew
  useEffect(() => {
    const target = element.current;
    if (target === null) return;
    const observer = new IntersectionObserver(([entry]) => {
      seen.current.since = entry?.isIntersecting ? performance.now() : undefined;
      draw((count) => count + 1);
    });
    observer.observe(target);
    return () => observer.disconnect();
  }, [element, key]);
  return () => {
    const { since } = seen.current;
    return since !== undefined && performance.now() - since >= SEEN && document.visibilityState === "visible";
  };
}
