//! What is over everything until it is closed: the browser keeps the focus in it, and Escape closes it.

import { type ReactNode, useEffect, useRef } from "react";

type Given = { label: string; className: string; onClose: () => void; children: ReactNode };

export function Dialog({ label, className, onClose, children }: Given) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const shown = dialog.current;
    if (shown !== null && !shown.open) shown.showModal();
    return () => shown?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: by key Escape closes it
    <dialog
      ref={dialog}
      className={`dialog ${className}`}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: one that is longer than the page is scrolled by keyboard
      tabIndex={0}
      onCancel={onClose}
      onClick={(event) => event.target === event.currentTarget && onClose()}
    >
      {children}
    </dialog>
  );
}
