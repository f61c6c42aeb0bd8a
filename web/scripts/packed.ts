//! The files of the built page as the program serves them, and how heavy they may be.

import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Plugin } from "vite";

const DIST = join(import.meta.dirname, "../dist");
const ASSETS = join(DIST, "assets");

/** The most that is loaded before anything is drawn, and that any part loads later; packed, in bytes. */
const LIMITS = { script: 250_000, sheet: 25_000, part: 110_000 };

/** The program serves what is text as it is packed here. */
export const packed: Plugin = {
  name: "packed",
  apply: "build",
  buildStart() {
    // What is kept beside it stays.
    rmSync(ASSETS, { recursive: true, force: true });
  },
  closeBundle() {
    const sizes = new Map<string, number>();
    for (const name of readdirSync(ASSETS).filter((name) => /\.(?:js|css|svg)$/.test(name))) {
      const path = join(ASSETS, name);
      const bytes = gzipSync(readFileSync(path), { level: 9 });
      writeFileSync(`${path}.gz`, bytes);
      rmSync(path);
      sizes.set(name, bytes.length);
    }
    const wrong = tooHeavy(readFileSync(join(DIST, "index.html"), "utf8"), sizes);
    if (wrong.length > 0) throw new Error(`the page is too heavy: ${wrong.join(", ")}`);
  },
};

/** What is heavier than it may be, by the document of the page and the sizes of its files. */
export function tooHeavy(document: string, sizes: ReadonlyMap<string, number>): string[] {
  const first = new Set([...document.matchAll(/assets\/([\w.-]+)/g)].map(([, name]) => name ?? ""));
  const sum = (end: string) =>
    [...first].filter((name) => name.endsWith(end)).reduce((all, name) => all + (sizes.get(name) ?? 0), 0);
  const told = (what: string, size: number, most: number) =>
    size > most ? [`${what} has ${size} bytes and may have ${most}`] : [];
  return [
    ...told("the first script", sum(".js"), LIMITS.script),
    ...told("the first sheet", sum(".css"), LIMITS.sheet),
    ...[...sizes].flatMap(([name, size]) => (first.has(name) ? [] : told(name, size, LIMITS.part))),
  ];
}
