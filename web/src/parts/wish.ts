//! Whether somebody wants to be told by the browser's own notifications, and the browser lets us.

import { useStored } from "./stored";

const isPossible = typeof Notification !== "undefined";

export type Wish = { wants: boolean; isPossible: boolean; isRefused: boolean; set: (wanted: boolean) => void };

export function useWish(): Wish {
  const [kept, keep] = useStored("notify");
  const set = async (wanted: boolean) => {
    if (!wanted) return keep(null);
    // The browser asks, and only because a button was pressed.
    if ((await Notification.requestPermission()) === "granted") keep("yes");
  };
  return {
    wants: kept === "yes" && isPossible && Notification.permission === "granted",
    isPossible,
    isRefused: isPossible && Notification.permission === "denied",
    set: (wanted) => void set(wanted),
  };
}
