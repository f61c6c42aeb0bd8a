//! Colours of programs: which parts of a text are what, in every language that is named.

import { describe, expect, it } from "vitest";
import { firstAfter } from "../src/text/coloured";
import { KINDS, partsOf } from "../workers/colours";

async function told(text: string, language: string): Promise<string[]> {
  const parts = await partsOf(text, language);
  const all: string[] = [];
  for (let at = 0; at < parts.length; at += 3) {
    all.push(`${KINDS[parts[at + 2] ?? 0]} ${text.slice(parts[at], parts[at + 1])}`);
  }
  return all;
}

describe("the parts of a text", () => {
  it("are those of its language, by its name and by the name of a file", async () => {
    const rust = "pub async fn put(part: &Part) { send(part, 4) } // done";
    const parts = ["k pub", "k async", "k fn", "f put", "t Part", "f send", "n_ 4", "c // done"];
    expect(await told(rust, "rust")).toEqual(parts);
    expect(await told(rust, "src/upload/client.rs")).toEqual(parts);
  });

  it("begin and end where they stand, also in a text that begins in the middle", async () => {
    expect(await told("  let x = 'a';\n}\n\nfoo()", "ts")).toEqual(["k let", "st 'a'", "f foo"]);
  });

  it("are read line by line where there is no parser", async () => {
    expect(await told('[package]\nname = "neco" # ours\n\nedition = 2024', "Cargo.toml")).toEqual([
      "n_ [package]",
      "f name",
      'st "neco"',
      "c # ours",
      "f edition",
      "n_ 2024",
    ]);
    expect(await told("if true; then echo 'a'; fi", "sh")).toContain("k if");
    expect(await told("FROM debian\nRUN true", "docker/Dockerfile")).toContain("k FROM");
  });

  it("name properties where a text is made of them", async () => {
    expect(await told('{"a": true}', "json")).toEqual(['f "a"', "n_ true"]);
    expect(await told("a.b", "js")).toEqual([]);
  });

  it("of a page are those of what is in it", async () => {
    expect(await told("<p id='a'><script>let x</script>", "html")).toEqual([
      "t p",
      "f id",
      "st 'a'",
      "t script",
      "k let",
      "t script",
    ]);
  });

  it("are none in a language that nobody knows", async () => {
    expect(await told("let x", "klingon")).toEqual([]);
    expect(await told("let x", "LICENSE")).toEqual([]);
  });

  it("come to an end in lines that never do, and in what is no program", async () => {
    for (const name of [
      "sh",
      "toml",
      "ruby",
      "sql",
      "kt",
      "rs",
      "ts",
      "py",
      "css",
      "html",
      "md",
      "yaml",
      "php",
      "go",
    ]) {
      const parts = await partsOf(`${"\u0000<{[('\"`".repeat(500)}\n${"x".repeat(20_000)}`, name);
      expect(parts.length % 3, name).toBe(0);
    }
  });
});

it("finds the first part of a stretch", () => {
  const parts = Uint32Array.from([0, 3, 0, 5, 6, 1, 9, 12, 2]);
  expect([0, 2, 3, 5, 6, 11, 12].map((at) => firstAfter(parts, at) / 3)).toEqual([0, 0, 1, 1, 2, 2, 3]);
});
