//! What is the person's own: commands that they run, keys that they choose, tokens that they give away.

import type { Page } from "playwright-core";
import { afterEach, expect, it } from "vitest";
import { Stage, until } from "./stage";

let stage: Stage;

afterEach(async () => {
  const { complaints } = stage;
  await stage.end();
  expect(complaints).toEqual([]);
});

async function say(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Say what you want done" }).fill(text);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/s\/[0-9a-f-]+$/);
}

it("runs commands of the person's own, stops one, and tells the agent of them with the next message", async () => {
  stage = await Stage.playing([{ say: "Hello." }, { say: "I see." }], { "src/a.txt": "here\n" });
  const page = await stage.signedIn();
  await say(page, "hello");
  await page.locator(".outcome").waitFor();

  await page.getByRole("link", { name: "Terminal" }).click();
  const line = page.getByRole("textbox", { name: "A command of your own" });
  const pane = page.locator(".pane");
  await line.fill("cd src");
  await page.keyboard.press("Enter");
  await pane.getByText(/Your commands run in .*src now/).waitFor();
  await line.fill("cat a.txt && false");
  await page.keyboard.press("Enter");
  await pane.locator(".row-line", { hasText: "here" }).waitFor();
  await pane.locator(".facts", { hasText: "by you" }).waitFor();
  await page.getByRole("navigation", { name: "Commands" }).getByText("exit 1").waitFor();
  await line.fill("cat a.txt; sleep 600");
  await page.keyboard.press("Enter");
  await pane.locator(".row-line", { hasText: "here" }).waitFor();
  await page.keyboard.press("Escape");
  await pane.locator(".sub", { hasText: "stopped" }).waitFor();
  await page.keyboard.press("ArrowUp");
  expect(await line.inputValue()).toBe("cat a.txt; sleep 600");

  await page.getByRole("link", { name: "Chat", exact: true }).click();
  const field = page.getByRole("textbox", { name: "Your message" });
  await field.fill("!echo seen $((40 + 2))");
  await page.keyboard.press("Enter");
  const run = page.locator(".own-run");
  await run.getByText("seen 42").waitFor();
  await run.getByText("The agent is told of it").waitFor();
  await page.reload();
  await run.getByText("seen 42").waitFor();
  await field.fill("What was that?");
  await page.keyboard.press("Enter");
  await page.locator(".prose", { hasText: "I see." }).waitFor();
  await run.waitFor({ state: "detached" });
  const said = page.locator(".said").last();
  expect(await said.textContent()).toContain("What was that?");
  await said.getByRole("button").click();
  await said.getByText("seen 42").waitFor();
});

it("gives another key to what is done, and keeps it", async () => {
  stage = await Stage.playing([{ say: "Hello." }]);
  const page = await stage.signedIn();
  await say(page, "hello");
  await page.locator(".outcome").waitFor();
  await page.locator(".bar h1").click();
  await page.keyboard.press("?");
  const sheet = page.getByRole("dialog", { name: "Keys" });
  await sheet.getByRole("button", { name: /^to the files: g f/ }).click();
  await page.keyboard.press(".");
  await sheet.getByText(". is taken already: details").waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("z");
  await sheet.getByText("g z is now for: to the files").waitFor();
  await page.keyboard.press("Escape");
  await sheet.waitFor({ state: "detached" });
  await page.reload();
  await page.locator(".outcome").waitFor();
  await page.locator(".bar h1").click();
  await page.keyboard.press("g");
  await page.keyboard.press("z");
  await page.waitForURL(/\/files$/);
});

it("makes a token that comes in, tells what was done, and removes it", async () => {
  stage = await Stage.playing([]);
  const page = await stage.signedIn();
  await page.goto(`${stage.origin}/settings/devices`);
  await page.getByRole("textbox", { name: "Whose it is" }).fill("phone");
  await page.getByRole("button", { name: "Make it" }).click();
  const token = (await page.locator(".made-token code").textContent()) ?? "";
  const status = async () => {
    const answer = await fetch(`${stage.url()}/api/v1/sessions`, { headers: { authorization: `Bearer ${token}` } });
    return answer.status;
  };
  await until("the token comes in", async () => (await status()) === 200);
  await page.locator(".audit-line", { hasText: "the token of phone" }).waitFor();
  await page.reload();
  const row = page.locator(".line-of", { has: page.locator("b", { hasText: /^phone$/ }) }).first();
  await row.waitFor();
  expect(await page.content()).not.toContain(token);
  await row.getByRole("button", { name: "Remove: phone" }).click();
  await row.getByRole("button", { name: "Press again: phone" }).click();
  await page.getByText("Nobody else has a token.").waitFor();
  await until("the token is good for nothing", async () => (await status()) === 401);
});
