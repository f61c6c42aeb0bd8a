//! A button for what can't be taken back: the first press says what would happen, the second does it.

import { type ReactNode, useEffect, useState } from "react";

/** How long the second press is waited for. */
const PATIENCE_MS = 4000;

type Given = {
  label: string;
  sure: string;
  title?: string;
  className?: string;
  disabled?: boolean;
  /** Presses from outside, such as by a key: another number is another press. */
  presses?: number;
  icon?: ReactNode;
  children?: ReactNode;
  onSure: () => void;
};

export function SureButton({ label, sure, title, className, disabled, presses, icon, children, onSure }: Given) {
  const [isArmed, setArmed] = useState(false);
  const [seen, setSeen] = useState(presses);
  useEffect(() => {
    if (!isArmed) return;
    const timer = setTimeout(() => setArmed(false), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [isArmed]);
  const press = () => {
    if (isArmed) onSure();
    setArmed(!isArmed);
  };
  useEffect(() => {
    if (presses === seen) return;
    setSeen(presses);
    if (!disabled) press();
  });
  return (
    <button type="button" className={className ?? "btn"} title={title} disabled={disabled} onClick={press}>
      {icon}
      {isArmed ? sure : label}
      {children}
    </button>
  );
}
