//! Every view in both themes, three widths and two languages: nothing that axe finds wrong, nothing that is cut off.
//!
//! With `LOOKS=FOLDER` the pictures are kept, for a person to look at.

import { join } from "node:path";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CREW, CREW_AGENTS } from "./crew";
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
  for (const view of ["files/src/upload/client.rs", "terminal", "prompt"]) {
    await page.goto(new URL(`${address}/${view}`, page.url()).href);
    await page.locator(".row-line, .picker .row").locator("visible=true").first().waitFor();
    await looked(page, `${view.split("/", 1)[0]}-${name}`);
  }
  await page.goto(new URL(address, page.url()).href);
  await page.locator(".track .prose").last().waitFor();
  if (width < 640) {
    await page.locator(".phone-nav").getByRole("button").click();
    await page.locator(".sheet .row").first().waitFor();
    await looked(page, `more-${name}`);
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
  for (const place of [
    "settings",
    "settings/models",
    "settings/limits",
    "settings/rules",
    "settings/devices",
    "usage",
  ]) {
    await page.goto(`${stage.origin}/${place}`);
    await page.locator(".set-bar").waitFor();
    await page
      .locator(".setting, .setnav .row, .audit-line, .figures, .usage-body p")
      .locator("visible=true")
      .first()
      .waitFor();
    await page.locator(".waits-a-while").first().waitFor({ state: "detached" });
    await looked(page, `${place.replace("/", "-")}-${name}`);
  }
  await page.context().close();
});

describe("several agents", () => {
  let crew: Stage;
  let crewAt: string;

  beforeAll(async () => {
    crew = await Stage.playing(CREW, FILES, "", CREW_AGENTS);
    const page = await crew.signedIn();
    await page.getByRole("textbox", { name: "Say what you want done" }).fill("Retry uploads when throttled");
    await page.keyboard.press("Enter");
    await page
      .getByRole("region", { name: "Waits for your decision" })
      .locator(".cmd", { hasText: "cargo test" })
      .waitFor();
    crewAt = new URL(page.url()).pathname;
    await page.goto(`${crew.origin}${crewAt}/agents`);
    await page.locator(".nodebox.failed", { hasText: "lint" }).waitFor();
    await page.locator(".nodebox.running", { hasText: "e2e" }).waitFor();
    await page.context().close();
  });

  afterAll(async () => {
    const { complaints } = crew;
    await crew.end();
    expect(complaints).toEqual([]);
  });

  it.each(CASES)(
    "$theme, $width wide, $locale",
    async ({ theme, width, height, locale }) => {
      const page = await crew.signedIn({
        colorScheme: theme,
        viewport: { width, height },
        locale,
        hasTouch: width < 640,
      });
      const name = `${theme}-${width}-${locale.slice(0, 2)}`;
      const see = async (path: string, what: string, is: string) => {
        await page.goto(crew.origin + path);
        await page.locator(what).first().waitFor();
        await looked(page, `${is}-${name}`);
      };
      await see(`${crewAt}/agents`, ".lane .who", "agents");
      await page.getByRole("radio", { name: /Graph|图/ }).click();
      await page.locator(".nodebox").first().waitFor();
      await looked(page, `agents-graph-${name}`);
      await see(`${crewAt}/agents/coder-1`, ".agent-panel .facts", "agent");
      await see(`${crewAt}/agents/explore-1/log`, ".track .prose", "agent-log");
      await see("/tasks", ".tr .steps", "tasks");
      await see(`/tasks/${crewAt.split("/").at(-1)}`, ".agent-panel .tl li", "task");
      await page.goto(`${crew.origin}/workflows`);
      await page.locator(".folder-field input").fill(crew.project);
      await page.locator(".wf-entry .btn").first().waitFor();
      await page.locator(".wf-runs .steps").first().waitFor();
      await looked(page, `workflows-${name}`);
      await page.locator(".wf-entry .btn").first().click();
      await page.locator(".ask-form .acts").waitFor();
      await looked(page, `workflow-form-${name}`);
      await page.keyboard.press("Escape");
      await page.locator(".wf-runs a").first().click();
      await page.locator(".nodebox, .tasklist tr").first().waitFor();
      await looked(page, `workflow-run-${name}`);
      await page.context().close();
    },
    240_000,
  );
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
