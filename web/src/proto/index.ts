//! What is said on the wire: types that come from the program, and how they are taken apart here.

import type { Event } from "./types";

export type * from "./types";

/** What every event has. */
type Envelope = "type" | "seq" | "ts" | "session_id" | "agent_id" | "turn_id" | "needs";

/** Each alternative of a type without some of its fields. */
type Without<T, K extends string> = T extends unknown ? Omit<T, K> : never;

/** An event of a type. */
export type EventOf<T extends Event["type"]> = Extract<Event, { type: T }>;

/** What an event of a type holds besides what every event has. */
export type Payload<T extends Event["type"]> = Without<EventOf<T>, Envelope>;
