//! Every view in both themes, three widths and two languages: nothing that axe finds wrong, nothing that is cut off.
//!
//! With `LOOKS=FOLDER` the pictures are kept, for a person to look at.

import { join } from "node:path";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { FILES, WORK } from "./harbor";
import { Stage } from "./stage";

const WIDTHS = [
  [1440, 900],
  [1024, 768],
  [390, 844],
] as const;

const CASES = (["dark", "light"] as const).flatMap((theme) =>
  WIDTHS.flatMap(([width, height]) =>
    (["en-GB", "zh-CN"] as const).map((locale) => ({ theme, width, height, locale })),
  ),
);

let stage: Stage;
let address: string;

beforeAll(async () => {
  stage = await Stage.playing(WORK, FILES);
  const page = await stage.signedIn();
  await page
    .getByRole("textbox", { name: "Say what you want done" })
    .fill(
      "Uploads die with `503 SlowDown` when the bucket throttles us. Retry with backoff, keep `--timeout` an upper bound, and test it without a network.",
    );
  await page.keyboard.press("Enter");
  const dock = page.getByRole("region", { name: "Waits for your decision" });
  for (const asked of ["Backoff::new", "sh check.sh"]) {
    await dock.locator(".cmd", { hasText: asked }).waitFor();
    await dock.getByRole("button", { name: "Allow once" }).click();
  }
  await dock.locator(".cmd", { hasText: "--nocapture" }).waitFor();
  address = new URL(page.url()).pathname;
  await page.context().close();
});

afterAll(async () => {
  const { complaints } = stage;
  await stage.end();
  expect(complaints).toEqual([]);
});

it.each(CASES)("$theme, $width wide, $locale", async ({ theme, width, height, locale }) => {
  const page = await stage.signedIn({ colorScheme: theme, viewport: { width, height }, locale, hasTouch: width < 640 });
  const name = `${theme}-${width}-${locale.slice(0, 2)}`;
  await looked(page, `start-${name}`);
  await page.goto(new URL(address, page.url()).href);
  await page.locator(".asked .cmd", { hasText: "--nocapture" }).waitFor();
  await page.locator(".track .prose").last().waitFor();
  await looked(page, `session-${name}`);
  await page.goto(new URL(`${address}/changes`, page.url()).href);
  await page.locator(".sheet .hunk").first().waitFor();
  await page.keyboard.press("]");
  await page.locator(".hunk.sel").waitFor();
  await looked(page, `changes-${name}`);
  await page.goto(new URL(address, page.url()).href);
  await page.locator(".asked .cmd", { hasText: "--nocapture" }).waitFor();
  if (width >= 640) {
    await page.getByRole("feed").focus();
    await page.keyboard.press("Control+k");
    await page.getByRole("option").first().waitFor();
    await looked(page, `palette-${name}`);
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await page.locator(".keys dl").first().waitFor();
    await looked(page, `keys-${name}`);
    await page.keyboard.press("Escape");
  }
  if (width < 1180) {
    await page.locator(".phone-bar, .bar").locator("visible=true").getByRole("button").last().click();
    await page.locator(".about.open .sect").first().waitFor();
    await looked(page, `details-${name}`);
    await page.locator(".about .closes").click();
  }
  if (width < 860) {
    await page.locator(".phone-bar").getByRole("button").first().click();
    await page.locator(".side.open").waitFor();
    await looked(page, `sessions-${name}`);
  }
  await page.context().close();
});

/** What is drawn now is as it should be. */
async function looked(page: Page, name: string): Promise<void> {
  // What slides in has come to rest.
  await page.waitForFunction(() =>
    document
      .getAnimations()
      .every(
        (each) => each.playState !== "running" || each.effect?.getTiming().iterations === Number.POSITIVE_INFINITY,
      ),
  );
  if (process.env.LOOKS !== undefined) await page.screenshot({ path: join(process.env.LOOKS, `${name}.png`) });
  // Nothing is wider than the page.
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), name).toBeLessThanOrEqual(0);
  await page.evaluate(axe.source);
  const wrong = await page.evaluate(async () => {
    const { axe: tool } = window as unknown as {
      axe: {
        run: (on: Document, options: object) => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
      };
    };
    const { violations } = await tool.run(document, {
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`);
  });
  expect(wrong, name).toEqual([]);
}
