//! A clock that runs while something does.

import { useEffect, useState } from "react";
import { useFormat } from "../words";

export function Ticking({ since_ms }: { since_ms: number | undefined }) {
  const format = useFormat();
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") setNow(Date.now());
    }, 1000);
    return () => clearInterval(timer);
  }, []);
  return since_ms === undefined ? null : <span className="live num">{format.ticking(now - since_ms)}</span>;
}
