//! The end of a conversation is followed until somebody looks elsewhere, and nothing moves under who reads.

import { afterEach, expect, it } from "vitest";
import { Stage, until } from "./stage";

let stage: Stage;

afterEach(async () => {
  const { complaints } = stage;
  await stage.end();
  expect(complaints).toEqual([]);
});

const LONG = Array.from({ length: 60 }, (_, at) => `Paragraph ${at + 1} says something about uploads.`).join("\n\n");

/** How far the end is below what is seen. */
const FROM_END = () => {
  const track = document.querySelector(".track");
  return track === null ? -1 : track.scrollHeight - track.scrollTop - track.clientHeight;
};

it("follows, lets go when somebody scrolls up, and stays where they read while text comes in", async () => {
  stage = await Stage.playing([
    { say: LONG },
    { say: Array.from({ length: 150 }, (_, at) => `word${at}`).join(" \n\n"), between_ms: 15 },
  ]);
  const page = await stage.signedIn();
  await page.getByRole("textbox", { name: "Say what you want done" }).fill("begin");
  await page.keyboard.press("Enter");
  await page.locator(".outcome").waitFor();
  await until("the end is seen", async () => (await page.evaluate(FROM_END)) <= 1);

  const field = page.getByRole("textbox", { name: "Your message" });
  await field.fill("go on");
  await field.press("Enter");
  await page.getByText("word3", { exact: true }).waitFor();
  await until("the end is followed", async () => (await page.evaluate(FROM_END)) <= 1);

  await page.locator(".track").hover();
  await page.mouse.wheel(0, -600);
  const read = page.getByText("Paragraph 55 says");
  await read.waitFor();
  // What was scrolled has come to rest.
  let before = await read.boundingBox();
  await until("it rests", async () => {
    const now = await read.boundingBox();
    const rests = now?.y === before?.y;
    before = now;
    return rests;
  });
  const far = await page.evaluate(FROM_END);
  await until("more has come", async () => (await page.evaluate(FROM_END)) > far + 200);
  expect((await read.boundingBox())?.y).toBe(before?.y);
  // Who writes is not moved either.
  await field.fill("something");
  expect((await read.boundingBox())?.y).toBe(before?.y);

  await page.getByRole("button", { name: /new|To the end/ }).click();
  await until("the end is followed again", async () => (await page.evaluate(FROM_END)) <= 1);
  await page.getByText("word149", { exact: true }).waitFor();
  await page.locator(".outcome").last().waitFor();
  await until("to the last line", async () => (await page.evaluate(FROM_END)) <= 1);
});

it("mounts only what is near, also in a long session, and opens it at its end", async () => {
  const count = 80;
  stage = await Stage.playing(Array.from({ length: count }, (_, at) => ({ say: `Answer ${at + 1}.` })));
  const page = await stage.signedIn();
  await page.getByRole("textbox", { name: "Say what you want done" }).fill("message 1");
  await page.keyboard.press("Enter");
  await page.getByText("Answer 1.", { exact: true }).waitFor();
  const path = new URL(page.url()).pathname.replace("/s/", "/api/v1/sessions/");
  const headers = {
    authorization: `Bearer ${stage.run("serve", "token").trim()}`,
    "content-type": "application/json",
  };
  for (let at = 2; at <= count; at++) {
    const body = JSON.stringify({ type: "user_message", content: `message ${at}` });
    expect((await fetch(`${stage.url() + path}/commands`, { method: "POST", headers, body })).status).toBe(202);
  }
  const last = page.getByText(`Answer ${count}.`, { exact: true });
  await last.waitFor();
  await page.reload();
  await last.waitFor();
  await until("the end is seen", async () => (await page.evaluate(FROM_END)) <= 1);
  expect(await page.locator(".block").count()).toBeLessThan(90);
  await page.getByRole("feed").focus();
  await page.keyboard.press("Home");
  await page.locator(".said", { hasText: /^message 1$/ }).waitFor();
  await page.getByText("Answer 1.", { exact: true }).waitFor();
  await page.keyboard.press("End");
  await until("the end is seen again", async () => (await page.evaluate(FROM_END)) <= 1);

  // By the palette to where something was said, and back by its title.
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").getByRole("combobox").fill("answer 40");
  const found = page.getByRole("option").filter({ hasText: "it said" });
  await found.first().waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").getByRole("combobox").fill("answer 40");
  await found.first().click();
  await page.getByText("Answer 40.", { exact: true }).waitFor();
  expect(new URL(page.url()).search).toBe("");

  // From elsewhere, by the words that no title has: it opens at the place, and stays there.
  await page.goto(`${stage.origin}/`);
  await page.getByRole("searchbox").fill("answer 40");
  await page.getByRole("button", { name: "in what was said" }).click();
  await page.getByRole("option").filter({ hasText: "it said" }).filter({ hasText: "message 1" }).first().click();
  const forty = page.getByText("Answer 40.", { exact: true });
  await forty.waitFor();
  await page.waitForTimeout(1_000);
  const box = await forty.boundingBox();
  expect(box?.y).toBeGreaterThan(0);
  expect(box?.y).toBeLessThan(700);
  await page.getByRole("button", { name: "To the end" }).waitFor();

  await page.getByRole("feed").focus();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).getByText("take back what waits").waitFor();
});
