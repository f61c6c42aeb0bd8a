//! A piece of work as a person would see it: something is looked at, changed, tried, asked.

import type { Turn } from "./stage";

export const FILES = {
  "src/upload/client.rs": `use crate::limits::Limits;

/// Sends the parts of an upload.
pub struct Client {
    limits: Limits,
}

impl Client {
    pub async fn put_part(&self, part: &Part) -> Result<ETag> {
        let response = self.send(part).await?;
        if !response.status().is_success() {
            return Err(Error::Refused(response.status()));
        }
        Ok(response.etag())
    }
}
`,
  "src/limits.rs": "pub struct Limits {\n    pub timeout: Duration,\n    pub retries: u32,\n}\n",
  "check.sh": `echo "test upload::retry::honours_retry_after ... ok"
echo "test upload::retry::deadline_wins_over_retries ... FAILED"
echo "  left: 4, right: 3  src/upload/retry.rs:88"
exit 101
`,
  "docs/uploading.md": "# Uploading\n\nParts are sent one after the other.\n",
};

const usage = { input: 42_000, output: 900, cache_read: 36_000 };

export const WORK: Turn[] = [
  {
    reasoning: "The parts are sent somewhere; I look for that first.",
    calls: [
      { name: "read_file", arguments: { path: "src/upload/client.rs" } },
      { name: "read_file", arguments: { path: "src/limits.rs" } },
      { name: "grep", arguments: { pattern: "put_part" } },
    ],
    usage,
  },
  {
    say: "Parts go out in one place, `Client::put_part`, so the retry belongs there, with the waiting in a type of its own.",
    calls: [
      {
        name: "todo_write",
        arguments: {
          todos: [
            { id: "1", content: "Find where parts are sent", status: "completed" },
            { id: "2", content: "Retry in put_part", status: "in_progress" },
            { id: "3", content: "Tests with a throttling server", status: "pending" },
            { id: "4", content: "Say it in docs/uploading.md", status: "pending" },
          ],
        },
      },
      {
        name: "edit_file",
        arguments: {
          path: "src/upload/client.rs",
          old_string:
            "        let response = self.send(part).await?;\n        if !response.status().is_success() {\n            return Err(Error::Refused(response.status()));\n        }\n        Ok(response.etag())\n",
          new_string:
            "        let mut backoff = Backoff::new(&self.limits);\n        loop {\n            let response = self.send(part).await?;\n            if response.status().is_success() {\n                return Ok(response.etag());\n            }\n            backoff.wait(response.retry_after()).await?;\n        }\n",
        },
      },
    ],
    usage,
  },
  { calls: [{ name: "bash", arguments: { command: "sh check.sh" } }], usage },
  {
    say: "One attempt too many: `Backoff::wait` looks at the clock before it sleeps, so the last sleep may end after the deadline. Comparing the deadline with `now + delay` fixes the count and gives `--timeout` its promise.\n\nWhat is left:\n\n- the deadline counts the sleep\n- a test with a server that throttles\n\n| attempt | waits |\n|---|---:|\n| 2 | 0.5 s |\n| 3 | 1 s |",
    calls: [{ name: "bash", arguments: { command: "sh check.sh --test retry -- --nocapture" } }],
    usage,
  },
  { say: "Done: uploads try again when they are throttled.", usage },
];
