//! Files, terminal and prompt: what a session changed, what commands print, what the model is told.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterEach, expect, it } from "vitest";
import { FILES, WORK } from "./harbor";
import { Stage, until } from "./stage";

let stage: Stage;

afterEach(async () => {
  const complaints = stage.complaints.filter((said) => !/status of 40[34]/.test(said));
  await stage.end();
  expect(complaints).toEqual([]);
});

async function say(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Say what you want done" }).fill(text);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/s\/[0-9a-f-]+$/);
}

async function allow(page: Page, shown: string): Promise<void> {
  const dock = page.getByRole("region", { name: "Waits for your decision" });
  await dock.locator(".cmd", { hasText: shown }).waitFor();
  await dock.getByRole("button", { name: "Allow once" }).click();
}

async function go(page: Page, letter: string): Promise<void> {
  await page.locator(".bar h1").click();
  await page.keyboard.press("g");
  await page.keyboard.press(letter);
}

it("shows what commands print, live and whole, and stops one in the background", async () => {
  stage = await Stage.playing(
    [
      { calls: [{ name: "bash", arguments: { command: "sh count.sh" } }] },
      { calls: [{ name: "bash", arguments: { command: "sh serve.sh", background: true } }] },
      { say: "Done." },
    ],
    {
      "count.sh": "echo first; until [ -e go ]; do sleep 0.1; done; seq 1 60000\n",
      "serve.sh": "echo served; sleep 600\n",
    },
  );
  const page = await stage.signedIn();
  await say(page, "run it");
  await allow(page, "sh count.sh");
  await go(page, "t");
  const pane = page.locator(".pane");
  await pane.locator(".row-line", { hasText: "first" }).waitFor();
  writeFileSync(join(stage.project, "go"), "");

  await allow(page, "sh serve.sh");
  const list = page.getByRole("navigation", { name: "Commands" });
  await list.getByText("sh count.sh").click();
  const output = pane.getByRole("region", { name: /Output of/ });
  await output.focus();
  await until("the end of all that it printed is seen", async () => {
    await page.keyboard.press("End");
    return (await pane.locator(".row-line", { hasText: /^60000$/ }).count()) > 0;
  });

  await list.getByText("sh serve.sh").click();
  await pane.locator(".row-line", { hasText: "served" }).waitFor();
  await pane.getByText("in the background as").waitFor();
  await pane.getByRole("button", { name: "Stop" }).click();
  await pane.getByText("ended by a signal").first().waitFor();
});

it("shows the tree, a file with what the session changed in it, and nothing of what may hold secrets", async () => {
  const long = Array.from({ length: 90_000 }, (_, at) => `const line_${at} = ${at};`).join("\n");
  stage = await Stage.playing(WORK.slice(0, 2).concat({ say: "Done." }), {
    ...FILES,
    "src/long.ts": long,
    ".env": "TOKEN=do-not-show-me",
  });
  const page = await stage.signedIn();
  await say(page, "Retry uploads");
  await allow(page, "Backoff::new");
  await page.locator(".outcome").waitFor();
  await go(page, "f");
  const tree = page.getByRole("tree", { name: "Files of the project" });
  await tree.getByRole("treeitem", { name: /^src/ }).click();
  await tree.getByRole("treeitem", { name: /^upload/ }).click();
  await tree.getByRole("treeitem", { name: /client\.rs/ }).click();
  await page.waitForURL(/\/files\/src\/upload\/client\.rs$/);
  const text = page.getByRole("region", { name: "What stands in src/upload/client.rs" });
  await text.locator(".row-line.came", { hasText: "backoff.wait" }).waitFor();
  await text.locator(".k", { hasText: "impl" }).waitFor();
  await page
    .locator(".pane")
    .getByText(/^\+\d+$/)
    .waitFor();

  // More of a big file comes when it is wanted, and words are found in it.
  await page.getByRole("searchbox", { name: "Find a file" }).fill("long");
  await page.keyboard.press("Enter");
  const big = page.getByRole("region", { name: "What stands in src/long.ts" });
  await big.getByText("line_0 ").waitFor();
  await big.focus();
  await page.keyboard.press("End");
  await page.getByRole("button", { name: "Read on" }).click();
  const find = page.getByRole("searchbox", { name: /^Find in/ });
  await find.fill("LINE_79999");
  await big.locator("mark.found.now", { hasText: "line_79999" }).waitFor();

  await page.goto(page.url().replace(/files\/.*/, "files/.env"));
  await page.getByRole("heading", { name: "This file can't be shown." }).waitFor();
  expect(await page.getByText("do-not-show-me").count()).toBe(0);
  mkdirSync(join(stage.project, "a b#c%?"), { recursive: true });
  writeFileSync(join(stage.project, "a b#c%?/<i>.txt"), "here");
  await page.goto(
    page.url().replace(/files\/.*/, `files/${encodeURIComponent("a b#c%?")}/${encodeURIComponent("<i>.txt")}`),
  );
  await page.locator(".row-line", { hasText: "here" }).waitFor();
});

it("shows what the model is told, and what of it is new", async () => {
  stage = await Stage.playing([{ say: "One." }, { say: "Two." }], { "AGENTS.md": "Say it in few words.\n" });
  const page = await stage.signedIn();
  await say(page, "first question");
  await page.locator(".outcome").waitFor();
  await go(page, "p");
  const list = page.getByRole("navigation", { name: "What the model is told" });
  await list.getByText("Rules", { exact: true }).click();
  await page.locator(".row-line", { hasText: "Say it in few words." }).waitFor();
  await list.getByText("read_file").click();
  await page.locator(".row-line", { hasText: '"properties"' }).waitFor();
  await list.getByText("first question").click();
  await page.locator(".row-line", { hasText: "first question" }).waitFor();
  await until(
    "the answer is marked as new",
    async () => (await list.getByRole("img", { name: /new since/ }).count()) === 1,
  );
});

it("has everything else behind the last tab of a phone", async () => {
  stage = await Stage.playing([{ say: "Done." }]);
  const page = await stage.signedIn({ viewport: { width: 390, height: 844 }, hasTouch: true });
  await say(page, "hello");
  await page.locator(".outcome").waitFor();
  const tabs = page.locator(".phone-nav");
  await tabs.getByRole("button", { name: "More" }).tap();
  await page.getByRole("dialog", { name: "More" }).getByRole("link", { name: "Prompt" }).tap();
  await page.waitForURL(/\/prompt$/);
  await page.getByRole("link", { name: /^Who it is/ }).tap();
  await page.locator(".row-line").first().waitFor();
  await page.getByRole("link", { name: "All layers" }).tap();
  await page.getByRole("link", { name: /^Who it is/ }).waitFor();
  expect(await tabs.getByRole("button", { name: "More" }).getAttribute("aria-current")).toBe("page");
});
