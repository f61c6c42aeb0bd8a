//! What lies behind something that is over the stage: a click there, or Escape, closes that.

import { useKeys } from "../parts";

export function Scrim({ onClose }: { onClose: () => void }) {
  useKeys({ Escape: onClose });
  return <div className="scrim" aria-hidden="true" onClick={onClose} />;
}
