//! The words of workflows as they are drawn, in English.

export const flow = {
  flow: {
    taskState: {
      pending: "waits",
      ready: "next",
      running: "running",
      completed: "completed",
      failed: "failed",
      cancelled: "stopped",
      skipped: "skipped",
    },
    standing: { completed: "completed", running: "running", waits: "waits", failed: "failed", skipped: "not done" },
    kind: { agent: "agent", tool: "tool", command: "command" },
    strategy: (name: string) =>
      name === "continue"
        ? "on failure: goes on"
        : name === "retry_then_continue"
          ? "on failure: tries again, then goes on"
          : "on failure: stops",
    over: (over: number, all: number) => `${over} of ${all} over`,
    running: (count: number) => `${count} running`,
    show: "Show as",
    graph: "Graph",
    list: "List",
    graphLabel: (name: string) =>
      `${name} as a graph; arrows move along its lines, and the list says the same in words`,
    listLabel: (name: string) => `Tasks of ${name}`,
    noGraph: "The graph can't be drawn in this browser; the list says the same in words.",
    filter: "Only tasks that are",
    zoomIn: "Larger",
    zoomOut: "Smaller",
    fit: "Fit",
    needs: (count: number) => (count === 1 ? "needs 1" : `needs ${count}`),
    try: (count: number) => `try ${count}`,
    task: "Task",
    does: "Does it",
    state: "State",
    after: "After",
    took: "Time",
    tries: "Tries",
    started: "Began",
    why: "Why",
    output: "What came of it",
    none: "No task is like that.",
    cancelRun: "Stop for good",
    cancelSure: "Stop for good: press again",
    resumeRun: "Go on",
    pickRun: "Which run",
    toAgent: (name: string) => `See ${name}`,
    closeTask: "Close",
  },
};
