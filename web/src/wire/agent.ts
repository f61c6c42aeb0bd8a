//! What one agent of a session said and did: the log of the session, folded as if the agent were its root.

import { fold } from "../fold";
import type { Event } from "../proto";
import type { Line } from "./line";
import { LiveSession } from "./session";

export class AgentLog extends LiveSession {
  readonly agent: string;

  /** `since` is an event before all that the agent did. */
  constructor(session: string, agent: string, since: number, line: Line) {
    super(session, line);
    this.agent = agent;
    this.view.root = agent;
    this.view.seq = since;
  }

  protected override fold(events: readonly Event[]): void {
    fold(
      this.view,
      events.filter((event) => this.#isOfIt(event)),
    );
    const last = events.at(-1);
    if (last !== undefined) this.view.seq = last.seq;
  }

  #isOfIt(event: Event): boolean {
    switch (event.type) {
      case "agent_update":
        return event.node.id === this.agent || event.node.parent === this.agent;
      case "agent_message":
        return event.to === this.agent || (event.from.kind === "agent" && event.from.id === this.agent);
      default:
        return event.agent_id === this.agent;
    }
  }
}
