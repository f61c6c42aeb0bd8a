//! Several agents and a workflow, seen while they work and steered from the page.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterEach, expect, it } from "vitest";
import { type Part, Stage, type Turn, until } from "./stage";

let stage: Stage;

afterEach(async () => {
  const complaints = stage.complaints;
  await stage.end();
  expect(complaints).toEqual([]);
});

const spawn = (task: string) => ({ name: "spawn_agent", arguments: { agent: "coder", task } });

const waitsFor = (file: string) => ({
  name: "bash",
  arguments: { command: `until [ -e ${file} ]; do sleep 0.05; done; echo there is ${file}` },
});

const TURNS: Turn[] = [
  { calls: [spawn("translate the poem"), spawn("count the stars")] },
  { say: "They are at it." },
  { say: "One is done." },
];

const AGENTS: Part[] = [
  {
    role: "coder",
    task: "poem",
    turns: [
      { reasoning: "German, most likely.", calls: [waitsFor("go")], usage: { input: 5000, output: 40 } },
      { expect: { last_user_contains: "into French, not German" }, say: "C'est en français." },
    ],
  },
  { role: "coder", task: "stars", turns: [{ calls: [waitsFor("never")], usage: { input: 3000, output: 40 } }] },
];

/** Says something on the start page, with as few questions as there can be. */
async function begin(page: Page, words: string): Promise<string> {
  await page.getByLabel("When you are asked").selectOption("auto");
  await page.getByRole("textbox", { name: "Say what you want done" }).fill(words);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/s\/[0-9a-f-]+$/);
  return new URL(page.url()).pathname;
}

const put = (name: string) => writeFileSync(join(stage.project, name), "");

it("shows agents over time, and corrects, pauses, resumes and stops them", async () => {
  stage = await Stage.playing(TURNS, {}, "", AGENTS);
  const page = await stage.signedIn();
  const session = await begin(page, "translate and count");
  await page.getByText("They are at it.").waitFor();

  // By keys to the agents; by the name in the chat to one of them.
  await page.getByRole("feed").focus();
  await page.keyboard.press("g");
  await page.keyboard.press("a");
  await page.waitForURL(/\/agents$/);
  const tree = page.getByRole("treegrid", { name: "Agents over time" });
  const row = (name: string) => tree.getByRole("row", { name });
  await row("coder-1").waitFor();
  expect(await row("coder-2").getAttribute("aria-level")).toBe("2");
  await page.locator(".sub", { hasText: "3 in all, 2 levels" }).waitFor();
  await row("coder-1").locator(".span.now-works").waitFor();
  await page.goBack();
  await page.getByRole("link", { name: "coder-1" }).first().click();
  await page.waitForURL(/\/agents\/coder-1$/);

  const panel = page.getByRole("complementary", { name: "The agent that is selected" });
  await panel.getByText("translate the poem").waitFor();
  await panel.getByRole("button", { name: "Pause" }).click();
  await panel.getByText("paused").waitFor();
  put("go");
  await panel.getByRole("textbox", { name: "It reads this at its next turn" }).fill("into French, not German");
  await page.keyboard.press("Enter");
  await panel.getByText("It reads it at its next turn.").waitFor();
  // Its log is that of the agent alone: its own calls, and what it was told.
  await panel.getByRole("link", { name: "Log" }).click();
  await page.waitForURL(/\/agents\/coder-1\/log$/);
  const feed = page.getByRole("feed");
  await feed.getByText("was corrected").waitFor();
  await feed.getByText("there is go").first().waitFor();
  expect(await feed.getByText("count the stars").count()).toBe(0);
  expect(await feed.getByText("C'est en français.").count()).toBe(0);
  await panel.getByRole("button", { name: "Go on" }).click();
  await feed.getByText("C'est en français.").waitFor();
  await panel.getByText("completed").waitFor();

  // The other one, by the keyboard alone.
  await page.goto(`${stage.origin}${session}/agents`);
  await row("root").waitFor();
  await until("the tree has the focus", async () => {
    await tree.locator('[role="row"][tabindex="0"]').focus();
    await page.keyboard.press("End");
    return await row("coder-2").evaluate((element) => element === document.activeElement);
  });
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/agents\/coder-2$/);
  await page.keyboard.press("x");
  await panel.getByRole("button", { name: "Stop: press again" }).waitFor();
  expect(await row("coder-2").getByLabel("at work").count()).toBe(1);
  await page.keyboard.press("x");
  await panel.getByText("stopped").waitFor();
  await row("coder-2").getByLabel("stopped").waitFor();

  // What was stopped can begin anew, and limits hold for it.
  await panel.getByRole("button", { name: "Start over" }).click();
  await panel.getByRole("button", { name: "Start over: press again" }).click();
  await panel.getByText("at work").waitFor();
  await panel.getByRole("button", { name: "Limits" }).click();
  await panel.getByLabel("Tokens").fill("many");
  await panel.getByRole("button", { name: "Set" }).click();
  await panel.getByText("A limit is a number above 0.").waitFor();
  await panel.getByLabel("Tokens").fill("90000");
  await panel.getByRole("button", { name: "Set" }).click();
  await panel.getByRole("img", { name: "percent of it used" }).waitFor();
  await panel.getByRole("button", { name: "Stop" }).click();
  await panel.getByRole("button", { name: "Stop: press again" }).click();
  await panel.getByText("stopped").waitFor();

  // An agent that is not there, and a session that has none.
  await page.goto(`${stage.origin}${session}/agents/nobody-7`);
  await page.getByText("There is no nobody-7 here any more").waitFor();
});
