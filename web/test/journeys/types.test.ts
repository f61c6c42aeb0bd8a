//! The types that the page is built with are those that the program speaks. `npm run types` writes them anew.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { typesOf } from "../../scripts/types.mjs";
import { Stage } from "./stage";

const FILE = join(import.meta.dirname, "../../src/proto/types.ts");

const stage = await Stage.playing([]);

afterAll(() => stage.end());

it("has the types of the program", async () => {
  const authorization = `Bearer ${stage.run("serve", "token").trim()}`;
  const answer = await fetch(`${stage.url()}/api/v1/openapi.json`, { headers: { authorization } });
  const types = typesOf(await answer.json());
  if (process.env.WRITE_TYPES !== undefined) writeFileSync(FILE, types);
  expect(readFileSync(FILE, "utf8")).toBe(types);
});
