//! Several agents at work as a person would see them: one is done, one asks, a workflow is in its middle.

import type { Part, Turn } from "./stage";

const usage = { input: 21_000, output: 700, cache_read: 18_000 };

const DEFINITION = {
  name: "ship-check",
  on_failure: "continue",
  tasks: [
    { id: "find", command: "echo found" },
    { id: "unit", needs: ["find"], command: "echo passed" },
    { id: "e2e", needs: ["find"], command: "until [ -e go ]; do sleep 0.2; done", timeout: 600 },
    { id: "bench", needs: ["find"], accept_failure: true, command: "echo 12 % slower; exit 3" },
    { id: "lint", needs: ["find"], command: "exit 1" },
    { id: "judge", needs: ["unit", "e2e", "bench"], command: "echo judged" },
    { id: "publish", needs: ["judge", "lint"], command: "echo published" },
  ],
};

const spawn = (agent: string, task: string) => ({ name: "spawn_agent", arguments: { agent, task } });

export const CREW: Turn[] = [
  {
    reasoning: "Somebody looks where parts are sent while somebody else writes.",
    calls: [
      spawn("explore", "where parts are sent"),
      spawn("coder", "Retry in put_part, and tests that need no network"),
    ],
    usage,
  },
  { say: "Meanwhile the checks run.", calls: [{ name: "workflow", arguments: { definition: DEFINITION } }], usage },
  { say: "The checks are through.", usage },
  { say: "All is done.", usage },
];

export const CREW_AGENTS: Part[] = [
  {
    role: "explore",
    turns: [
      { calls: [{ name: "grep", arguments: { pattern: "put_part" } }], usage },
      { say: "Parts go out in `Client::put_part`, in **src/upload/client.rs**.", usage },
    ],
  },
  {
    role: "coder",
    turns: [
      {
        reasoning: "The client first.",
        calls: [{ name: "read_file", arguments: { path: "src/upload/client.rs" } }],
        usage,
      },
      {
        say: "The client retries now; next its tests.",
        calls: [{ name: "bash", arguments: { command: "cargo test -p harbor --test retry" } }],
        usage,
      },
      { say: "Then it is.", usage },
    ],
  },
];
