//! Colours stand in look/tokens.css alone: everything else names what they mean.

import { readdirSync, readFileSync } from "node:fs";

const COLOUR = /#[0-9a-f]{3,8}\b(?!["'])|\b(?:rgba?|hsla?|oklch|oklab|lab|lch)\((?!from)/gi;
const files = readdirSync("src", { recursive: true })
  .filter((file) => /\.(?:css|tsx?)$/.test(file) && !file.endsWith("tokens.css"))
  .map((file) => `src/${file}`);
const found = files.flatMap((file) =>
  readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line, at) => (line.match(COLOUR) ?? []).map((colour) => `${file}:${at + 1}: ${colour}`)),
);
if (files.length === 0) throw new Error("no file was looked at");
if (found.length > 0) {
  console.error(`colours belong in src/look/tokens.css:\n${found.join("\n")}`);
  process.exit(1);
}
