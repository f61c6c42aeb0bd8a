//! The figures of the page, measured with the real program, the scripted model and a browser, held to their limits.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, expect, it } from "vitest";
import { Stage, until } from "../journeys/stage";
import { LAST, longSession } from "./long-session";
import { held, notePainted, tasks, untilPainted, watch } from "./page";

let stage: Stage;

type Figure = { name: string; value: number; unit: string; most: number };

const figures: Figure[] = [];

function told(name: string, value: number, unit: string, most: number): void {
  figures.push({ name, value: Number(value.toPrecision(3)), unit, most });
}

afterEach(async () => {
  await stage.end();
});

afterAll(() => {
  for (const { name, value, unit, most } of figures) {
    console.log(`${name.padEnd(26)} ${String(value).padStart(8)} ${unit.padEnd(4)} at most ${most}`);
  }
  const file = process.env.FIGURES;
  if (file !== undefined) writeFileSync(file, `${JSON.stringify(figures, null, 2)}\n`);
  expect(figures.filter(({ value, most }) => !(value <= most))).toEqual([]);
});

const middle = (values: number[]) => values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN;

const p95 = (values: number[]) =>
  values.toSorted((one, other) => one - other)[Math.ceil(values.length * 0.95) - 1] ?? Number.NaN;

async function say(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: /Say what you want done|Your message/ }).fill(text);
  await page.keyboard.press("Enter");
}

it("loads little, and is painted soon", async () => {
  stage = await Stage.playing([]);
  const page = await stage.signedIn();
  const paints: number[] = [];
  for (let time = 0; time < 7; time++) {
    await page.reload();
    const paint = () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0;
    await until("it is painted", async () => (await page.evaluate(paint)) > 0);
    paints.push(await page.evaluate(paint));
  }
  const loaded = await page.evaluate(() =>
    (performance.getEntriesByType("resource") as PerformanceResourceTiming[]).map(({ name, encodedBodySize }) => ({
      end: new URL(name).pathname.split(".").at(-1),
      size: encodedBodySize,
    })),
  );
  const sum = (end: string) => loaded.filter((one) => one.end === end).reduce((all, { size }) => all + size, 0) / 1000;
  told("first_script", sum("js"), "kB", 250);
  told("first_sheet", sum("css"), "kB", 25);
  told("first_paint", middle(paints), "ms", 300);
});

it("opens and scrolls a session of 5,000 messages", async () => {
  stage = await Stage.playing([]);
  const file = join(stage.folder, "long.jsonl");
  writeFileSync(file, longSession(5_000, stage.project));
  stage.run("session", "import", file);
  const opened: number[] = [];
  let page = await stage.signedIn({ viewport: { width: 1440, height: 900 } });
  for (let time = 0; time < 3; time++) {
    if (time > 0) {
      page = await stage.tab(page.context());
      await page.goto(stage.origin);
    }
    await page.locator(".side .row.two, .side a.row").first().waitFor();
    opened.push(await untilPainted(page, ".side .list a.row", ".track .prose", LAST));
  }
  told("long_session_opens", middle(opened), "ms", 500);
  await page.locator(".track").hover();
  const browser = await stage.browser();
  const works = await tasks(browser, page, async () => {
    for (let step = 0; step < 60; step++) {
      await page.mouse.wheel(0, step < 40 ? -900 : 700);
      await page.waitForTimeout(16);
    }
  });
  told("long_session_longest_task", Math.max(...works), "ms", 32);
  told("long_session_memory", await held(page), "MB", 150);
});

it("paints what the model writes at once, and keys meanwhile", async () => {
  const words = Array.from({ length: 1_600 }, (_, at) => `word${at}`).join(" ");
  stage = await Stage.playing([{ say: "Ready." }, { say: words, between_ms: 5 }]);
  const page = await stage.signedIn();
  await page.context().addInitScript(watch);
  await page.reload();
  await say(page, "begin");
  await page.locator(".outcome").waitFor();
  await page.evaluate(() => {
    window.figures.pieces.length = 0;
  });
  await notePainted(page);
  await say(page, "go on");
  await page.getByText("word40 ").waitFor();
  const field = page.getByRole("textbox", { name: "Your message" });
  await field.focus();
  await page.keyboard.type("a sentence that is written while words come in, and is a little longer", { delay: 60 });
  await page.getByText("word1599").waitFor();
  const { pieces, painted, keys } = await page.evaluate(() => window.figures);
  const begin = pieces[0]?.from ?? 0;
  const waits = pieces.map(({ at, until }) => {
    const shown = painted.find(({ length }) => length >= until - begin - 1);
    return (shown?.at ?? Number.POSITIVE_INFINITY) - at;
  });
  expect(pieces.length).toBeGreaterThan(200);
  told("token_to_paint_p95", p95(waits), "ms", 50);
  // Those under 16 ms are told by nobody.
  told("key_to_paint_p95", keys.length === 0 ? 16 : p95(keys), "ms", 30);
});

it("catches up with what was missed", async () => {
  const words = Array.from({ length: 1_000 }, (_, at) => `word${at}`).join(" ");
  stage = await Stage.playing([{ say: "Ready." }, { say: words, between_ms: 3, delay_ms: 1_500 }]);
  const page = await stage.signedIn();
  await say(page, "begin");
  await page.locator(".outcome").waitFor();
  await say(page, "go on");
  await page.locator(".said", { hasText: "go on" }).waitFor();
  await stage.cable.cut();
  await page.waitForTimeout(8_000);
  await stage.cable.mend();
  told("catch_up_1000", await untilPainted(page, "online", ".track .prose", "word999"), "ms", 300);
});

it("rests while nobody looks", async () => {
  stage = await Stage.playing([{ say: "Ready." }]);
  const page = await stage.signedIn();
  await page.context().addInitScript(watch);
  await page.reload();
  await say(page, "begin");
  await page.locator(".outcome").waitFor();
  await page.evaluate(() => {
    window.figures.isHidden = true;
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await page.waitForTimeout(1_000);
  const seconds = 20;
  const works = await tasks(await stage.browser(), page, () => page.waitForTimeout(seconds * 1_000));
  told("hidden_cpu", works.reduce((sum, work) => sum + work, 0) / (seconds * 10), "%", 0.5);
});
