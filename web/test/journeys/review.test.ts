//! The review of changes: what is kept stays kept, what goes back is what was shown, and remarks reach the agent.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterEach, expect, it } from "vitest";
import { Stage, type Turn, until } from "./stage";

let stage: Stage;

afterEach(async () => {
  const complaints = stage.complaints;
  await stage.end();
  expect(complaints).toEqual([]);
});

const LINES = Array.from({ length: 40 }, (_, at) => `line ${at + 1}`);

const FILES = { "src/limits.rs": `${LINES.join("\n")}\n` };

const edit = (old_string: string, new_string: string) => ({
  name: "edit_file",
  arguments: { path: "src/limits.rs", old_string, new_string },
});

const WORK: Turn[] = [
  { calls: [{ name: "read_file", arguments: { path: "src/limits.rs" } }] },
  {
    calls: [
      edit("line 5\n", "line five\n"),
      edit("line 30\n", "line thirty\n"),
      { name: "write_file", arguments: { path: "src/new.rs", content: "fresh\n" } },
    ],
  },
  { say: "Changed." },
];

/** Work that is done, with all that it asked allowed. */
async function worked(turns: Turn[]): Promise<Page> {
  stage = await Stage.playing(turns, FILES);
  const page = await stage.signedIn();
  await page.getByRole("textbox", { name: "Say what you want done" }).fill("Change the limits");
  await page.keyboard.press("Enter");
  const dock = page.getByRole("region", { name: "Waits for your decision" });
  const done = page.locator(".outcome");
  await until("the work is done", async () => {
    const allow = dock.getByRole("button", { name: "Allow once" });
    if (await allow.isEnabled({ timeout: 100 }).catch(() => false))
      await allow.click({ timeout: 1_000 }).catch(() => {});
    return await done.isVisible();
  });
  return page;
}

const onDisk = (name: string) => readFileSync(join(stage.project, name), "utf8");

const toChanges = async (page: Page) => {
  await page
    .getByRole("navigation", { name: "Views of the session" })
    .getByRole("link", { name: /Changes/ })
    .click();
  await page.getByRole("heading", { name: "src/limits.rs" }).waitFor();
};

const hunk = (page: Page, at: number) => page.locator(".sheet .hunk").nth(at);

it("keeps a change, puts one back, puts a file back and takes that back, as it was shown", async () => {
  const page = await worked(WORK);
  await toChanges(page);
  await page.getByText("0 of 2 reviewed").first().waitFor();
  await page.locator(".sheet .a", { hasText: "line five" }).waitFor();

  await hunk(page, 0).getByRole("button", { name: "Keep" }).click();
  await hunk(page, 0).getByRole("button", { name: "kept" }).waitFor();
  // The server knows of it.
  await page.reload();
  await hunk(page, 0).getByRole("button", { name: "kept" }).waitFor();

  // By the keyboard alone.
  await page.locator(".sheet").focus();
  await page.keyboard.press("]");
  await page.keyboard.press("]");
  await page.locator(".hunk.sel", { hasText: "@27" }).waitFor();
  await page.keyboard.press("x");
  const asked = page.getByRole("dialog", { name: "Revert this change?" });
  await asked.getByText("line thirty").waitFor();
  expect(await asked.getByText("line five").count()).toBe(0);
  expect(onDisk("src/limits.rs")).toContain("line thirty");
  await page.keyboard.press("Enter");
  await page.getByText("Went back: src/limits.rs").waitFor();
  expect(onDisk("src/limits.rs")).toBe(FILES["src/limits.rs"].replace("line 5\n", "line five\n"));
  await until("one change is left", async () => (await page.locator(".sheet .hunk").count()) === 2);
  await until("the details say the same", async () =>
    (await page.locator(".inspect .fileline").allTextContents()).includes("src/limits.rs11"),
  );
  // What is left of the file is kept, so all of it is.
  await page.getByText("1 of 2 reviewed").first().waitFor();

  await page.locator(".fhead", { hasText: "src/new.rs" }).getByRole("button", { name: "Revert file" }).click();
  const file = page.getByRole("dialog", { name: "Revert this file?" });
  await file.getByText("the file goes").waitFor();
  await file.getByRole("button", { name: "Revert" }).click();
  await page.getByText("Went back: src/new.rs").waitFor();
  expect(existsSync(join(stage.project, "src/new.rs"))).toBe(false);
  await page.getByRole("button", { name: "Undo" }).click();
  await until("the file is there again", () => existsSync(join(stage.project, "src/new.rs")));
  await page.getByRole("heading", { name: "src/new.rs" }).waitFor();

  await page.keyboard.press("K");
  await page.getByText("2 of 2 reviewed").first().waitFor();
});

it("puts nothing back that is not as it was shown", async () => {
  const page = await worked(WORK);
  await toChanges(page);
  await page.locator(".sheet .a", { hasText: "line five" }).waitFor();
  await hunk(page, 0).getByRole("button", { name: "Revert" }).click();
  const asked = page.getByRole("dialog", { name: "Revert this change?" });
  await asked.getByText("line five").waitFor();
  const other = `${onDisk("src/limits.rs")}somebody else\n`;
  writeFileSync(join(stage.project, "src/limits.rs"), other);
  await asked.getByRole("button", { name: "Revert" }).click();
  await asked.getByText("Nothing went back").waitFor();
  expect(onDisk("src/limits.rs")).toBe(other);
  // The browser says so by itself.
  expect(stage.complaints.splice(0)).toEqual([expect.stringContaining("status of 400")]);
});

it("brings remarks on lines back as one message", async () => {
  const page = await worked([...WORK, { say: "I see." }]);
  await toChanges(page);
  await page.locator(".sheet .a", { hasText: "line five" }).waitFor();
  await page.locator(".sheet").focus();
  for (const [key, text] of [
    ["]", "Why in words?"],
    ["]", "This one too."],
  ] as const) {
    await page.keyboard.press(key);
    await page.keyboard.press("c");
    await page.getByRole("textbox", { name: "What is to be said of this line?" }).fill(text);
    await page.keyboard.press("Enter");
    await page.locator(".remark p", { hasText: text }).waitFor();
  }
  await page.reload();
  await page.getByText("2 comments, not sent yet").waitFor();
  await page.getByRole("button", { name: "Send as a message" }).click();
  await page.getByText("2 comments, not sent yet").waitFor({ state: "hidden" });
  await page.getByRole("status").filter({ hasText: "Sent; the answer comes in the chat." }).waitFor();
  await page.getByRole("link", { name: "To the chat" }).click();
  await page.locator(".prose", { hasText: "I see." }).waitFor();
  const said = await page.locator(".said").last().textContent();
  for (const part of [
    "src/limits.rs:5",
    "line five",
    "Why in words?",
    "src/limits.rs:30",
    "line thirty",
    "This one too.",
  ])
    expect(said).toContain(part);
});

it("takes several lines by dragging, with Shift and by keys, and names them in the message", async () => {
  const page = await worked([...WORK, { say: "I see." }]);
  await toChanges(page);
  await page.locator(".sheet .a", { hasText: "line five" }).waitFor();
  const number = (line: number) =>
    page.locator(".sheet .c2.r > i, .sheet .ln > i:nth-child(2)").getByText(String(line), { exact: true });
  const field = page.getByRole("textbox", { name: "What is to be said of these lines?" });
  await number(4).hover();
  await page.mouse.down();
  await number(6).hover();
  await page.locator(".picked", { hasText: "line five" }).first().waitFor();
  await page.mouse.up();
  await field.fill("These three.");
  // What is written can be about other lines, and keeps its words.
  await number(7).click({ modifiers: ["Shift"] });
  expect(await field.inputValue()).toBe("These three.");
  await page.keyboard.press("Enter");
  await page.locator(".remark header", { hasText: "lines 4 to 7" }).waitFor();

  await page.locator(".sheet").focus();
  await page.keyboard.press("]");
  await page.keyboard.press("]");
  await page.keyboard.press("Shift+ArrowDown");
  await page.keyboard.press("Shift+ArrowDown");
  await page.getByText("Lines 30 to 31 are chosen").waitFor();
  await page.keyboard.press("c");
  await field.fill("And these.");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Send as a message" }).click();
  await page.getByRole("link", { name: "Chat", exact: true }).first().click();
  await page.locator(".prose", { hasText: "I see." }).waitFor();
  const said = await page.locator(".said").last().textContent();
  for (const part of ["src/limits.rs:4-7", "line five", "These three.", "src/limits.rs:30-31", "And these."])
    expect(said).toContain(part);
});

it("is led to from the chat, says from when to when, and lets nothing be decided while it is away", async () => {
  const page = await worked([...WORK, { say: "Nothing more." }]);
  await page.getByRole("link", { name: "Review the changes of src/new.rs" }).focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/changes\?file=src%2Fnew\.rs$/);
  await page.locator(".files [aria-current]", { hasText: "new.rs" }).waitFor();
  await page.locator(".sheet .a", { hasText: "fresh" }).waitFor();

  await page.getByRole("combobox", { name: "Changes since" }).selectOption({ index: 0 });
  await page.getByRole("combobox", { name: "Changes until" }).selectOption("end");
  await page.waitForURL(/to=end/);
  await page.getByText("Only what the files are now can go back").first().waitFor();
  expect(await page.getByRole("button", { name: "Revert all…" }).isDisabled()).toBe(true);
  await page.getByRole("combobox", { name: "Changes until" }).selectOption("now");
  const revert = page.getByRole("button", { name: "Revert all…" });
  await until("it can go back", () => revert.isEnabled());

  await stage.cable.cut();
  await page.getByText("nothing can be kept or reverted").first().waitFor();
  expect(await revert.isDisabled()).toBe(true);
  await page.locator(".sheet .a", { hasText: "fresh" }).waitFor();
  await stage.cable.mend();
  await until("it can go back again", () => revert.isEnabled());
});

it("says that nothing changed, and since when", async () => {
  stage = await Stage.playing([{ say: "Looked." }], FILES);
  const page = await stage.signedIn();
  await page.getByRole("textbox", { name: "Say what you want done" }).fill("Only look");
  await page.keyboard.press("Enter");
  await page.locator(".outcome").waitFor();
  await page
    .getByRole("link", { name: /^Changes/ })
    .first()
    .click();
  await page.getByRole("heading", { name: "Nothing changed" }).waitFor();
  await page.getByText("“Only look”").waitFor();
});

it("runs a call once more that failed", async () => {
  stage = await Stage.playing([
    { calls: [{ name: "read_file", arguments: { path: "later.txt" } }] },
    { say: "It is not there." },
    { say: "Now it is." },
  ]);
  const page = await stage.signedIn();
  await page.getByRole("textbox", { name: "Say what you want done" }).fill("read it");
  await page.keyboard.press("Enter");
  await page.locator(".prose", { hasText: "It is not there." }).waitFor();
  await page.locator(".outcome").waitFor();
  writeFileSync(join(stage.project, "later.txt"), "here\n");
  await page.getByRole("button", { name: "Retry" }).click();
  await page.locator(".prose", { hasText: "Now it is." }).waitFor();
});
