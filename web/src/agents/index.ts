//! The agents of a session over time, its workflows, and what can be said to each of them.

export { AgentsView } from "./agents-view";
