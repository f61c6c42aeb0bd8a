//! Settings and what was used, without a page: how values are read, which control sets what, where a setting stands.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { withScheme } from "../src/models/with-scheme";
import type { SessionRow } from "../src/proto";
import { ALL_SECTIONS, sectionOf } from "../src/settings/sections";
import { serverIn } from "../src/settings/server-line";
import { controlOf, parsed, written } from "../src/settings/value";
import { byDay, cachedOf, summed } from "../src/usage/sums";

/** Every setting with what it takes, as the reference has it. */
const REFERENCE = Array.from(
  readFileSync(join(import.meta.dirname, "../../docs/reference/config.md"), "utf8").matchAll(
    /^\| `([^`]+)` \| (.+?) \| (?:–|`.*?`) \| /gm,
  ),
  ([, key = "", takes = ""]) => ({ key, takes: takes.replaceAll("\\|", "|") }),
).filter(({ key }) => key.includes(".") || /^(?:model|mode|approval|approval_timeout|roots)$/.test(key));

describe("a value", () => {
  it.each([
    ["true", true],
    ["5_000", 5000],
    ["30.5", 30.5],
    ["-1", -1],
    ['"ask_first"', "ask_first"],
    ["'C:\\new'", "C:\\new"],
    ['"a \\"b\\" \\u00e9\\n"', 'a "b" é\n'],
    ['["a", "b, c", 3]', ["a", "b, c", 3]],
    ["[]", []],
  ])("%s", (toml, value) => {
    expect(parsed(toml)).toEqual(value);
  });

  it.each(["", "***", '"***"', "{ a = 1 }", '["a", { b = 1 }]', '["a"', '"open', "1 2"])(
    "%s can't be set by a control",
    (toml) => {
      expect(parsed(toml)).toBeUndefined();
    },
  );
});

describe("a control", () => {
  it.each([
    ["true or false", { kind: "switch" }],
    ["one of `off`, `on`", { kind: "choice", choices: ["off", "on"] }],
    ["a whole number of at least 1 and at most 1000", { kind: "number", whole: true, least: 1, most: 1000 }],
    ["a number more than 0 and at most 600", { kind: "number", whole: false, above: 0, most: 600 }],
    ["a number", { kind: "number", whole: false }],
    ["a list, each item a string that is not empty", { kind: "list" }],
    ["a string", { kind: "text", mayBeEmpty: true }],
    ["a string that is not empty", { kind: "text", mayBeEmpty: false }],
    ["a list, each item a table", { kind: "file" }],
    ["a table, each value a string", { kind: "file" }],
  ])("for %s", (takes, control) => {
    expect(controlOf({ takes, value: "" })).toEqual(control);
  });

  it("is chosen by the value where people give the names", () => {
    expect(controlOf({ value: '["a/b"]' })).toEqual({ kind: "list" });
    expect(controlOf({ value: '"first"' })).toEqual({ kind: "text", mayBeEmpty: true });
    expect(controlOf({ value: "{ a = 1 }" })).toEqual({ kind: "file" });
  });

  it("shows no secret", () => {
    expect(controlOf({ takes: "a string", value: '"***"' })).toEqual({ kind: "file" });
  });

  it("is known for everything that the reference has", () => {
    expect(REFERENCE.length).toBeGreaterThan(150);
    const unknown = REFERENCE.filter(
      ({ takes }) => controlOf({ takes, value: "" }).kind === "file" && !/^a (?:list|table|value)/.test(takes),
    );
    expect(unknown).toEqual([]);
  });
});

it("has a section for every setting, and the last one for what is named nowhere", () => {
  expect(sectionOf("agent.max_turns")).toBe("limits");
  expect(sectionOf("agent.generation")).toBe("modes");
  expect(sectionOf("agents.max_depth")).toBe("agents");
  expect(sectionOf("model_groups.think.models")).toBe("models");
  expect(sectionOf("mode")).toBe("modes");
  const rest = REFERENCE.filter(({ key }) => sectionOf(key) === "more").map(({ key }) => key.split(".")[0]);
  expect(new Set(rest)).toEqual(new Set(["sessions", "server", "checkpoints"]));
  expect(new Set(ALL_SECTIONS.map(({ name }) => name)).size).toBe(ALL_SECTIONS.length);
});

it("writes a setting as the server reads it", () => {
  expect(written("tools.only", ["a", 'b"'])).toBe('tools.only=["a","b\\""]');
});

it.each([
  ["https://mcp.example/v1", { url: "https://mcp.example/v1" }],
  ["npx -y 'my server'", { command: "npx", args: ["-y", "my server"] }],
  ["KEY=a=b uvx tool", { command: "uvx", args: ["tool"], env: { KEY: "a=b" } }],
  ['{"command": "x"}', { command: "x" }],
  ['{"command": ', undefined],
  ["npx 'open", undefined],
  ["KEY=only", undefined],
  [" ", undefined],
])("reads a server from %s", (line, server) => {
  expect(serverIn(line)).toEqual(server);
});

it("takes a host alone for one of this network", () => {
  expect(withScheme(" gpu-box:8000 ")).toBe("http://gpu-box:8000");
  expect(withScheme("https://a.example/v1")).toBe("https://a.example/v1");
});

describe("what was used", () => {
  const row = (day: number, cwd: string, usage: object | undefined) =>
    ({ cwd, updated: new Date(2026, 2, day, 9).toISOString(), usage }) as unknown as SessionRow;
  const rows = [
    row(10, "/a", { input: 100, output: 10, cache_read: 75, cost: 0.5 }),
    row(10, "/b", { input: 10, output: 1 }),
    row(8, "/a", { input: 1000, output: 0, cost: 1 }),
    row(1, "/c", { input: 7, output: 7 }),
    row(9, "/d", undefined),
  ];

  it("is told for each day, also for those without anything", () => {
    const used = [
      {
        day: "2026-03-10",
        model: "a/b",
        agent: "root",
        calls: 1,
        usage: { input: 100, output: 10, cache_read: 75, cost: 0.5 },
      },
      { day: "2026-03-10", model: "a/c", calls: 1, usage: { input: 10, output: 1 } },
      { day: "2026-03-08", model: "a/b", agent: "root", calls: 1, usage: { input: 1000, output: 0, cost: 1 } },
      { day: "2026-03-01", model: "a/b", agent: "root", calls: 1, usage: { input: 7, output: 7 } },
    ];
    const days = byDay(used, "2026-03-10", 3);
    expect(days.map(({ sum }) => [sum.input, sum.cost])).toEqual([
      [1000, 1],
      [0, undefined],
      [110, 0.5],
    ]);
    expect(days.map(({ sum }) => cachedOf(sum))).toEqual([0, 0, 68]);
  });

  it("is summed by name, the most first", () => {
    const sums = summed(
      rows,
      ({ cwd }) => cwd,
      ({ usage }) => usage,
    );
    expect(sums.map(([name, { input, cost }]) => [name, input, cost])).toEqual([
      ["/a", 1100, 1.5],
      ["/c", 7, undefined],
      ["/b", 10, undefined],
    ]);
  });
});
