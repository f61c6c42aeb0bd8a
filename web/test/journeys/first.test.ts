//! The first thread through the page: open it, say something, be asked, answer, see what came of it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { FILES, WORK } from "./harbor";
import { Stage, until } from "./stage";

let stage: Stage;

afterEach(async () => {
  const complaints = stage.complaints;
  await stage.end();
  expect(complaints).toEqual([]);
});

it("begins with a folder and a sentence, asks, and shows what came of it", async () => {
  stage = await Stage.playing(WORK, FILES);
  const page = await stage.signedIn();
  expect(new URL(page.url()).hash).toBe("");
  await page.getByRole("heading", { name: "What shall be done in harbor?" }).waitFor();

  await page.getByRole("textbox", { name: "Say what you want done" }).fill("Retry uploads when they are throttled");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/s\/[0-9a-f-]+$/);
  await page.locator(".said", { hasText: "Retry uploads" }).waitFor();
  await page.getByText("Looked around").waitFor();

  const dock = page.getByRole("region", { name: "Waits for your decision" });
  await dock.getByText("would change a file").waitFor();
  await dock.getByText("Backoff::new").waitFor();
  await until("the title says that somebody is waited for", async () => (await page.title()).startsWith("◆"));
  await page.getByRole("navigation", { name: "Sessions" }).getByText("Wants you").waitFor();
  await dock.getByRole("button", { name: "Allow once" }).click();

  await dock.getByText("would run a command").waitFor();
  expect(await dock.locator(".cmd").textContent()).toContain("sh check.sh");
  expect(readFileSync(join(stage.project, "src/upload/client.rs"), "utf8")).toContain("Backoff::new");
  await dock.getByRole("button", { name: "Allow once" }).click();

  const failed = page.locator(".block", { hasText: "sh check.sh" }).first();
  await failed.getByText("exit 101").waitFor();
  await page.getByText("deadline_wins_over_retries").waitFor();

  // By the keyboard alone, with a reason.
  await dock.locator(".cmd", { hasText: "--nocapture" }).waitFor();
  await page.getByRole("feed").focus();
  await until("the key counts", async () => {
    await page.keyboard.press("n");
    return await dock.getByRole("textbox").isVisible();
  });
  await page.keyboard.type("not now");
  await page.keyboard.press("Enter");
  await page.getByText("you said no").waitFor();
  await page.getByText("Done: uploads try again").waitFor();
  await page.locator(".outcome", { hasText: "Done" }).waitFor();
  await until("nobody is waited for any more", async () => !(await page.title()).startsWith("◆"));
});

it("goes on where it was when the way to the server was cut: nothing is lost, nothing comes twice, words are held", async () => {
  stage = await Stage.playing([
    { say: "One two three four five six seven eight.", between_ms: 40 },
    { say: "Nine." },
    { calls: [{ name: "bash", arguments: { command: "touch x" } }] },
    { say: "Ten." },
  ]);
  const page = await stage.signedIn();
  await page.getByRole("textbox", { name: "Say what you want done" }).fill("first");
  await page.keyboard.press("Enter");
  // In the middle of an answer, again and again.
  for (let time = 0; time < 3; time++) {
    await page.locator(".prose").first().waitFor();
    await stage.cable.cut();
    await stage.cable.mend();
  }
  await page.locator(".prose", { hasText: "One two three four five six seven eight." }).waitFor();
  await page.locator(".outcome").waitFor();

  await stage.cable.cut();
  await page.getByText("Reconnecting").waitFor();
  await page.getByRole("textbox", { name: "Your message" }).fill("second");
  await page.keyboard.press("Enter");
  await page.getByText("not sent yet").waitFor();
  await stage.cable.mend();
  await page.locator(".prose", { hasText: "Nine." }).waitFor();
  await page.getByText("Reconnecting").waitFor({ state: "hidden" });
  expect(await page.locator(".said").allInnerTexts()).toEqual(["first", "second"]);
  expect(await page.locator(".prose").allInnerTexts()).toEqual(["One two three four five six seven eight.", "Nine."]);

  // What is decided is never held.
  await page.getByRole("textbox", { name: "Your message" }).fill("third");
  await page.keyboard.press("Enter");
  const allow = page.getByRole("button", { name: "Allow once" });
  await allow.waitFor();
  await stage.cable.cut();
  await page.getByText("Decisions wait").waitFor();
  expect(await allow.isDisabled()).toBe(true);
  await stage.cable.mend();
  await until("it can be decided", () => allow.isEnabled());
  await allow.click();
  await page.locator(".prose", { hasText: "Ten." }).waitFor();
});

it("keeps what was written for each session, also when the page is loaded anew, and holds words in their order", async () => {
  stage = await Stage.playing([{ say: "Slow.", delay_ms: 3_000 }, { say: "Later done." }]);
  const page = await stage.signedIn();
  await page.getByRole("textbox", { name: "Say what you want done" }).fill("begin");
  await page.keyboard.press("Enter");
  const field = page.getByRole("textbox", { name: "Your message" });
  await page.getByRole("button", { name: /^Stop/ }).waitFor();
  await field.fill("taken back");
  await page.keyboard.press("Tab");
  await page.locator(".queue", { hasText: "After the work" }).waitFor();
  await field.press("ArrowUp");
  await until("it is in the field again", async () => (await field.inputValue()) === "taken back");
  await field.fill("for later");
  await field.press("Tab");
  await page.locator(".queue", { hasText: "for later" }).waitFor();
  await field.fill("a draft");
  await page.reload();
  expect(await field.inputValue()).toBe("a draft");
  await page.locator(".prose", { hasText: "Later done." }).waitFor();
  expect(await page.locator(".said").allInnerTexts()).toEqual(["begin", "for later"]);
});

it("answers a question with a key and with words, and sends no half word", async () => {
  const questions = [
    {
      question: "Which store?",
      header: "Store",
      options: [{ label: "SQLite", description: "one file" }, { label: "Postgres" }],
    },
    { question: "What is it called?" },
  ];
  stage = await Stage.playing([{ calls: [{ name: "ask_user", arguments: { questions } }] }, { say: "Set up." }]);
  const page = await stage.signedIn();
  const field = page.getByRole("textbox", { name: "Say what you want done" });
  await field.fill("set up");
  // Enter that ends a word which is put together sends nothing.
  await field.dispatchEvent("keydown", { key: "Enter", keyCode: 229, isComposing: true, bubbles: true });
  await field.dispatchEvent("compositionend", { bubbles: true });
  await field.dispatchEvent("keydown", { key: "Enter", bubbles: true });
  expect(new URL(page.url()).pathname).toBe("/");
  await field.press("Enter");
  await page.getByText("Which store?").first().waitFor();
  await page.getByRole("feed").focus();
  await until("the key counts", async () => {
    await page.keyboard.press("2");
    return await page.getByRole("textbox", { name: "In your own words" }).isVisible();
  });
  await page.keyboard.type("harbor-store");
  await page.keyboard.press("Enter");
  await page.locator(".prose", { hasText: "Set up." }).waitFor();
  await page.getByText("Postgres · harbor-store").waitFor();
});

it("answers a question with what is written in the field", async () => {
  const questions = [{ question: "Which store?", options: [{ label: "SQLite" }, { label: "Postgres" }] }];
  stage = await Stage.playing([{ calls: [{ name: "ask_user", arguments: { questions } }] }, { say: "Set up." }]);
  const page = await stage.signedIn();
  await page.getByRole("textbox", { name: "Say what you want done" }).fill("set up");
  await page.keyboard.press("Enter");
  const field = page.getByRole("textbox", { name: "Your message" });
  await page.getByPlaceholder("Answer, or choose above").waitFor();
  await field.focus();
  await page.getByText("leaves the field; then the keys count").waitFor();
  await page.keyboard.press("Escape");
  await until("it has left the field", async () => !(await field.evaluate((it) => it === document.activeElement)));
  expect(await page.getByRole("button", { name: /^Stop/ }).count()).toBe(1);
  await field.fill("SQLite please");
  await field.press("Enter");
  await page.locator(".prose", { hasText: "Set up." }).waitFor();
  expect(await page.locator(".said").allInnerTexts()).toEqual(["set up"]);
});

it("answers once, whoever is faster: an answer in one tab closes the question in the other", async () => {
  stage = await Stage.playing([{ calls: [{ name: "bash", arguments: { command: "touch y" } }] }, { say: "Fine." }]);
  const one = await stage.signedIn();
  await one.getByRole("textbox", { name: "Say what you want done" }).fill("run it");
  await one.keyboard.press("Enter");
  const dock = (page: typeof one) => page.getByRole("region", { name: "Waits for your decision" });
  await dock(one).getByText("would run a command").waitFor();
  const two = await stage.tab(one.context());
  await two.goto(one.url());
  await dock(two).getByRole("button", { name: "Allow once" }).click();
  await dock(one).waitFor({ state: "detached" });
  for (const page of [one, two]) await page.locator(".prose", { hasText: "Fine." }).waitFor();
});

it("shows what is hostile as text", async () => {
  const hostile =
    "<img src=x onerror=alert(1)> [go](javascript:alert(1)) ![see](https://elsewhere.example/x.png) <script>alert(1)</script>";
  stage = await Stage.playing([
    { say: hostile, calls: [{ name: "bash", arguments: { command: "echo safe\u202e; rm -rf \u200b/tmp/nothing" } }] },
    { say: "ok" },
  ]);
  const page = await stage.signedIn();
  await page.getByRole("textbox", { name: "Say what you want done" }).fill("try");
  await page.keyboard.press("Enter");
  await page.locator(".prose", { hasText: "<script>alert(1)</script>" }).waitFor();
  const prose = page.locator(".prose").first();
  expect(await prose.locator("img, script").count()).toBe(0);
  expect(await prose.locator("a[href^='javascript:']").count()).toBe(0);
  expect(await prose.locator("a").getAttribute("href")).toBe("https://elsewhere.example/x.png");
  const asked = page.getByRole("region", { name: "Waits for your decision" });
  expect(await asked.locator("mark.sign").allInnerTexts()).toEqual(["⟪U+202E⟫", "⟪U+200B⟫"]);
});

it("lets nobody in without a link, and says how to get one", async () => {
  stage = await Stage.playing([]);
  const browser = await stage.browser();
  const page = await (await browser.newContext({ locale: "en-GB" })).newPage();
  await page.goto(stage.origin);
  await page.getByRole("heading", { name: "This browser is not signed in" }).waitFor();
  await page.getByText("neco web --no-open").waitFor();
  const answer = await page.goto(stage.origin);
  const policy = answer?.headers()["content-security-policy"] ?? "";
  for (const rule of ["default-src 'none'", "script-src 'self';", "trusted-types neco", "frame-ancestors 'none'"]) {
    expect(policy).toContain(rule);
  }
  expect(policy).not.toContain("unsafe");
  // A word of its own for each page, and files that are kept for good.
  const again = await fetch(stage.origin);
  expect(again.headers.get("content-security-policy")).not.toBe(policy);
  expect(again.headers.get("cache-control")).toBe("no-store");
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(await again.text())?.[1];
  const file = await fetch(`${stage.origin}${script}`);
  expect(file.headers.get("cache-control")).toContain("immutable");
  expect(file.headers.get("content-encoding")).toBe("gzip");
  expect((await fetch(`${stage.origin}/assets/nothing.js`)).status).toBe(404);
  expect((await fetch(`${stage.origin}/api/v1/sessions`)).status).toBe(401);
});

it("tells who looks elsewhere that it asks, where they wanted that", async () => {
  stage = await Stage.playing([{ calls: [{ name: "bash", arguments: { command: "touch z" } }], delay_ms: 1_500 }]);
  const browser = await stage.browser();
  const context = await browser.newContext({ locale: "en-GB" });
  await context.addInitScript(() => {
    // What the browser would show, and whether somebody looks.
    const told: string[] = [];
    class Told {
      static permission = "default";
      static requestPermission() {
        Told.permission = "granted";
        return Promise.resolve("granted");
      }
      constructor(title: string, { body }: { body: string }) {
        told.push(`${title}: ${body}`);
      }
    }
    Object.assign(window, { Notification: Told, told, away: false });
    const isAway = () => (window as unknown as { away: boolean }).away;
    Object.defineProperty(document, "visibilityState", { get: () => (isAway() ? "hidden" : "visible") });
  });
  const page = await stage.tab(context);
  await page.goto(stage.link());
  await page.getByRole("button", { name: "Notifications: off" }).click();
  await page.getByRole("button", { name: "Notifications: on" }).waitFor();
  await page.getByRole("textbox", { name: "Say what you want done" }).fill("touch it");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: /^Stop/ }).waitFor();
  await page.getByRole("navigation", { name: "Sessions" }).getByText("At work").waitFor();
  await page.evaluate(() => Object.assign(window, { away: true }));
  await until("it was told", async () => {
    const told = await page.evaluate(() => (window as unknown as { told: string[] }).told);
    return told.join() === "touch it: asks you something · harbor";
  });
});

it("prints a link with the folder where it was asked for", async () => {
  stage = await Stage.playing([]);
  expect(stage.run("web", "--no-open")).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?folder=\/.*harbor#code=\w+\n$/);
});
