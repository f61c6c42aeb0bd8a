//! From no model to a first answer, and settings that are changed: seen before they are written, and in the file after.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterEach, expect, it } from "vitest";
import { Stage, until } from "./stage";
import { Vendor } from "./vendor";

const KEY = "sk-harbor-0123456789abcdef";

let stage: Stage;
let vendor: Vendor | undefined;

afterEach(async () => {
  // A key that is refused and a setting that does not fit are told with their status.
  const complaints = stage.complaints.filter((words) => !/status of (?:400|503)/.test(words));
  await stage.end();
  await vendor?.end();
  vendor = undefined;
  expect(complaints).toEqual([]);
});

const ownFile = () => readFileSync(join(stage.env.NECO_HOME ?? "", "config.toml"), "utf8");

async function say(page: Page, words: string): Promise<void> {
  await page.getByRole("textbox", { name: "Say what you want done" }).fill(words);
  await page.keyboard.press("Enter");
}

it("leads who has no model to one: a server, a key that is tested, a model that answers, the first message", async () => {
  vendor = await Vendor.listening(KEY);
  stage = await Stage.bare("[sessions]\nmodel_title = false\n[memory]\nextract = false\n");
  const page = await stage.signedIn();
  const first = page.getByRole("region", { name: "Choose a model first" });
  await first.getByRole("button", { name: /A server of yours/ }).click();
  await first.getByLabel("The address of the server").fill("127.0.0.1:9");
  await page.keyboard.press("Enter");
  await first.getByText("Start the server there, or write another address").waitFor();
  await first.getByLabel("The address of the server").fill(`${vendor.host}/v1`);
  await page.keyboard.press("Enter");

  const key = first.getByLabel(/^A key of localhost-/);
  await key.fill("sk-mistyped-000000000000");
  await first.getByRole("button", { name: "Test and keep" }).click();
  await first.getByText("refuses this key; it was not saved").waitFor();
  await key.fill(KEY);
  await first.getByRole("button", { name: "Test and keep" }).click();
  await first.getByText(/The key of localhost-\d+ works and is kept/).waitFor();
  await first.getByRole("button", { name: "small-one" }).click();
  await page.getByText(/localhost-\d+\/small-one answers, and is kept/).waitFor();
  expect(ownFile()).toMatch(/model = "localhost-\d+\/small-one"/);
  expect(ownFile()).not.toContain(KEY);

  await say(page, "Who are you?");
  await page.locator(".prose", { hasText: "This is small-one." }).waitFor();

  // Another model, from the settings on.
  await page.goto(`${stage.origin}/settings/models`);
  const model = page.getByRole("textbox", { name: "model", exact: true });
  await model.fill((await model.inputValue()).replace("small-one", "big-one"));
  await page.getByRole("button", { name: /^Save/ }).click();
  await page.getByText("It holds from the next session.").waitFor();
  await page.goto(stage.origin);
  await say(page, "And now?");
  await page.locator(".prose", { hasText: "This is big-one." }).waitFor();
  expect(vendor.asked.at(-1)).toBe("big-one");

  // The key is known by its end, and goes when it is told to.
  await page.goto(`${stage.origin}/settings/models`);
  await page.getByText("…cdef").waitFor();
  expect(await page.content()).not.toContain(KEY);
  await page.getByRole("button", { name: /^Test localhost-/ }).click();
  await page.locator(".line-of", { hasText: "localhost-" }).getByRole("status").getByText("big-one").waitFor();
  await page.getByRole("button", { name: /^Forget key 1 of localhost-/ }).click();
  await page.getByText("…cdef").waitFor({ state: "detached" });

  // What was used is on its page.
  await page.goto(`${stage.origin}/usage`);
  await page.getByRole("heading", { name: "By day" }).waitFor();
  await page.locator(".figures", { hasText: "2.4k" }).waitFor();
});

it("shows what would be written, writes that and nothing else, and says from when on it holds", async () => {
  stage = await Stage.playing([], {}, "# of mine\n[agent]\nmax_turns = 40\n");
  const page = await stage.signedIn();
  await page.goto(`${stage.origin}/settings/limits`);
  const before = ownFile();
  const turns = page.getByRole("textbox", { name: "agent.max_turns" });
  await turns.waitFor();
  expect(await turns.inputValue()).toBe("40");
  const save = page.getByRole("button", { name: /^Save/ });

  await turns.fill("many");
  await page.locator('[id="agent.max_turns"]').getByRole("alert").waitFor();
  expect(await save.isDisabled()).toBe(true);

  await turns.fill("80");
  const unsaved = page.getByRole("region", { name: "Not saved yet" });
  await unsaved.locator(".l.a", { hasText: "max_turns = 80" }).waitFor();
  await unsaved.locator(".l.d", { hasText: "max_turns = 40" }).waitFor();
  expect(ownFile()).toBe(before);
  await until("it may be saved", () => save.isEnabled());
  await page.keyboard.press("Control+s");
  await page.getByText("It holds from the next session.").waitFor();
  expect(ownFile()).toBe(before.replace("max_turns = 40", "max_turns = 80"));

  // Found by words, chosen from a list, taken back.
  await page.getByRole("searchbox", { name: "Find a setting" }).fill("sandbox level");
  await page.getByRole("combobox", { name: "sandbox.level" }).selectOption("full");
  await page.getByText("Agents can do more with this").waitFor();
  await page.getByRole("button", { name: "sandbox.level as it was" }).click();
  await unsaved.waitFor({ state: "detached" });

  // A rule is kept and taken back; a call is explained.
  await page.goto(`${stage.origin}/settings/rules`);
  await page.getByRole("textbox", { name: "A new rule" }).fill("deny bash(git push *)");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("button", { name: /^Take back .*git push/ }).waitFor();
  await page.getByRole("textbox", { name: "Its command, path or arguments" }).fill("git push --force");
  await page.getByRole("button", { name: "Explain" }).click();
  await page.locator(".told", { hasText: "refused" }).waitFor();
  await page.getByRole("button", { name: /^Take back .*git push/ }).click();
  await page.getByText("None yet.").waitFor();

  // Letters can be switched off.
  await page.goto(`${stage.origin}/settings/keyboard`);
  await page.getByRole("switch", { name: "Letters" }).click();
  await page.getByRole("heading", { level: 1 }).click();
  await page.keyboard.press("?");
  expect(await page.getByRole("dialog").count()).toBe(0);
  await page.getByRole("switch", { name: "Letters" }).click();
  await page.getByRole("heading", { level: 1 }).click();
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
});
