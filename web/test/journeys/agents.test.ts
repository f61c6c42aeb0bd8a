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

const spawn = (agent: string, task: string) => ({ name: "spawn_agent", arguments: { agent, task } });

const waitsFor = (file: string) => ({
  name: "bash",
  arguments: { command: `until [ -e ${file} ]; do sleep 0.05; done; echo there is ${file}` },
});

const TURNS: Turn[] = [
  { calls: [spawn("coder", "translate the poem")] },
  { calls: [spawn("general", "count the stars")] },
  { say: "They are at it." },
  { say: "One is done." },
];

const AGENTS: Part[] = [
  {
    role: "coder",
    turns: [
      { reasoning: "German, most likely.", calls: [waitsFor("go")], usage: { input: 5000, output: 40 } },
      { expect: { last_user_contains: "into French, not German" }, say: "C'est en français." },
    ],
  },
  {
    role: "general",
    turns: [
      { calls: [waitsFor("never")], usage: { input: 3000, output: 40 } },
      // Once more, when it is started over.
      { calls: [waitsFor("never")], usage: { input: 3000, output: 40 } },
    ],
  },
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
  const row = (name: string) =>
    tree.locator('[role="row"]', { has: page.locator(".who .mono").getByText(name, { exact: true }) });
  await row("coder-1").waitFor();
  expect(await row("general-1").getAttribute("aria-level")).toBe("2");
  await page.locator(".sub", { hasText: "3 in all, 2 levels" }).waitFor();
  await row("coder-1").locator(".span.now-works").waitFor();
  await row("coder-1").locator(".deed.runs").waitFor();
  await row("coder-1")
    .getByRole("gridcell", { name: /1 call, 1 runs/ })
    .waitFor();
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
  // Whoever is shown first stays, with what is being written to it.
  await panel.getByRole("heading", { name: "general-1" }).waitFor();
  const draft = panel.getByRole("textbox", { name: "It reads this at its next turn" });
  await draft.fill("count only the bright ones");
  await panel.getByRole("button", { name: "Pause" }).click();
  await panel.getByRole("button", { name: "Go on" }).waitFor();
  await panel.getByRole("heading", { name: "general-1" }).waitFor();
  expect(await draft.inputValue()).toBe("count only the bright ones");
  await panel.getByRole("button", { name: "Go on" }).click();
  await panel.getByRole("button", { name: "Pause" }).waitFor();
  await until("the tree has the focus", async () => {
    await tree.locator('[role="row"][tabindex="0"]').focus();
    await page.keyboard.press("End");
    return await row("general-1").evaluate((element) => element === document.activeElement);
  });
  await page.keyboard.press("Space");
  await page.waitForURL(/\/agents\/general-1$/);
  await page.keyboard.press("x");
  await panel.getByRole("button", { name: "Stop: press again" }).waitFor();
  expect(await row("general-1").getByLabel("at work").count()).toBe(1);
  await page.keyboard.press("x");
  await panel.getByText("stopped").waitFor();
  await row("general-1").getByLabel("stopped").waitFor();
  await panel.getByText("It has ended and takes nothing more.").waitFor();
  const notSent = panel.getByRole("textbox", { name: "What was not sent" });
  expect(await notSent.inputValue()).toBe("count only the bright ones");
  await panel.getByRole("button", { name: "Put away" }).click();
  await notSent.waitFor({ state: "detached" });

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
}, 240_000);

const SHIP = `name = "ship"
description = "What stands between main and a release"
on_failure = "continue"

[inputs]
version = { description = "what it will be called" }
dry = { description = "whether nothing is published", default = true }

[[tasks]]
id = "find"
command = "echo {{ inputs.version | quote }}"

[[tasks]]
id = "unit"
needs = ["find"]
command = "until [ -e go ]; do sleep 0.05; done"

[[tasks]]
id = "bench"
needs = ["find"]
command = "test -e fixed"

[[tasks]]
id = "publish"
needs = ["unit", "bench"]
command = "echo published"
`;

it("runs a workflow from its definition, draws it as it goes, and goes on with what failed", async () => {
  stage = await Stage.playing([{ say: "Nobody asks." }], { ".neco/workflows/ship.toml": SHIP });
  const page = await stage.signedIn();
  await page.getByRole("link", { name: "Workflows" }).click();
  await page.getByLabel("Folder").fill(stage.project);
  await page.getByRole("button", { name: "Run ship" }).click();
  const form = page.getByRole("dialog", { name: "Run ship" });
  await form.getByRole("button", { name: "Run", exact: true }).click();
  await form.getByText("version has no value").waitFor();
  await form.getByLabel("version").fill("0.9");
  await form.getByLabel("When you are asked").selectOption("auto");
  await form.getByRole("button", { name: "Run", exact: true }).click();
  await page.waitForURL(/\/s\/[0-9a-f-]+\/agents$/);

  const graph = page.getByRole("region", { name: "ship as a graph" });
  const node = (name: string) => graph.getByRole("button", { name });
  await node("unit").getByLabel("running").waitFor();
  await node("bench").getByLabel("failed").waitFor();
  await node("find").getByLabel("completed").waitFor();
  expect(await graph.locator(".edges path[marker-end]").count()).toBe(4);
  // Arrows go along the lines.
  await node("find").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  expect(await node("publish").evaluate((element) => element === document.activeElement)).toBe(true);
  await node("bench").click();
  await page.locator(".task-over").getByText("Why").waitFor();
  await page.locator(".task-over").getByRole("button", { name: "Close" }).click();
  put("go");
  await page.getByText("partly done").first().waitFor();
  await page.getByText("4 of 4 over").waitFor();

  // The same in words, and only what failed.
  await page.getByRole("radio", { name: "List" }).click();
  const list = page.getByRole("table", { name: "Tasks of ship" });
  expect(await list.getByRole("row").count()).toBe(5);
  await page.getByRole("button", { name: "failed 1" }).click();
  expect(await list.getByRole("rowheader").allInnerTexts()).toEqual(["bench"]);
  await page.getByRole("button", { name: "failed 1" }).click();

  // Among the runs it has an address of its own, from which it goes on.
  await page.getByRole("link", { name: "Workflows", exact: true }).first().click();
  await page.locator(".wf-runs a", { hasText: "partly done" }).click();
  await page.waitForURL(/\/workflows\/[0-9a-f-]+$/);
  await node("bench").getByLabel("failed").waitFor();
  put("fixed");
  await page.getByRole("button", { name: "Go on" }).click();
  await node("publish").getByLabel("completed").waitFor();
  await page.locator(".chip", { hasText: "completed" }).first().waitFor();
});

it("begins a task in the background, shows its steps, and stops it", async () => {
  const todos = [
    { id: "1", content: "Look", status: "completed" },
    { id: "2", content: "Wait for it", status: "in_progress" },
    { id: "3", content: "Tell", status: "pending" },
  ];
  const changes = { name: "bash", arguments: { command: "touch begun; until [ -e never ]; do sleep 0.05; done" } };
  stage = await Stage.playing([
    { calls: [{ name: "todo_write", arguments: { todos } }, changes], usage: { input: 900, output: 20 } },
  ]);
  const page = await stage.signedIn();
  await page.getByRole("link", { name: "Tasks" }).click();
  await page.getByText("Nothing runs, and nothing was done today.").waitFor();
  await page.getByRole("button", { name: "New task" }).click();
  const form = page.getByRole("dialog", { name: "New task" });
  await form.getByLabel("What is to be done").fill("wait for the file");
  await form.getByLabel("Folder").fill(stage.project);
  await form.getByRole("button", { name: "Begin" }).click();
  await page.waitForURL(/\/tasks\/[0-9a-f-]+$/);
  const panel = page.getByRole("complementary", { name: "The task that is selected" });
  // It asks whether it may run that.
  const wants = page.getByRole("region", { name: "Wants you" });
  await wants.getByRole("link", { name: "wait for the file" }).waitFor();
  await wants.getByText("1 of 3").waitFor();
  await panel.getByText("Wait for it").waitFor();
  await panel.getByRole("link", { name: "See what it asks" }).click();
  await page.getByRole("button", { name: "Allow once" }).click();
  await page.getByRole("link", { name: "Tasks" }).click();
  await page.getByRole("region", { name: "Running" }).getByRole("link", { name: "wait for the file" }).click();
  await panel.getByRole("button", { name: "Stop" }).click();
  await panel.getByRole("button", { name: "Stop: press again" }).click();
  await page.getByRole("region", { name: "Over today" }).getByRole("link", { name: "wait for the file" }).waitFor();
  await page.getByRole("searchbox", { name: "Look for a task" }).fill("no such thing");
  await page.getByText("No task fits.").waitFor();
});
