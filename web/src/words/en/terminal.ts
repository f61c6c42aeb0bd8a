//! The words of the terminal, in English.

export const terminal = {
  terminal: {
    list: "Commands",
    none: "No command was run yet.",
    whatItIs: "What commands of the agents print stands here, whole, also of those in the background.",
    output: (command: string) => `Output of ${command}`,
    running: "runs",
    inBackground: (name: string) => `in the background as ${name}`,
    exit: (code: number) => `exit ${code}`,
    stopped: "stopped",
    killed: "ended by a signal",
    lost: "how it ended is not known",
    failed: "failed",
    refused: "not run",
    by: (agent: string) => `by ${agent}`,
    stop: "Stop",
    goOn: "To the background",
    nothingPrinted: "It printed nothing.",
    nothingYet: "Nothing was printed yet.",
    onlyTheEnd: "The end of what it printed",
    back: "All commands",
    more: (read: string, all: string) => `${read} of ${all}`,
    readOn: "Read on",
    trouble: (why: string) => `This was not done: ${why}`,
  },
};
