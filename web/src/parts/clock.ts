//! The time of day, for what is drawn anew while it passes.

import { useEffect, useState } from "react";

/** The time now, every second while it runs and somebody looks. */
export function useNow(runs: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!runs) return;
    setNow(Date.now());
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") setNow(Date.now());
    }, 1000);
    return () => clearInterval(timer);
  }, [runs]);
  return now;
}
