//! Texts that want to be more than text: they are drawn as what they are, and nothing is asked of anybody.

import type { Page } from "playwright-core";
import { afterEach, expect, it } from "vitest";
import { WRITTEN } from "./hostile-texts";
import { Stage } from "./stage";

let stage: Stage;

afterEach(async () => {
  // Whatever was asked of another server is a complaint.
  const complaints = stage.complaints.filter((said) => !/status of 40[34]/.test(said));
  await stage.end();
  expect(complaints).toEqual([]);
});

/** A name as nobody would give a file. */
const NAME = "<img src=x onerror=window.broken=20> \u202Egnp.rs";

/** Nothing of it has become a part of the page that it is not to be. */
async function isText(page: Page): Promise<void> {
  const found = await page.evaluate(() => ({
    broken: (window as unknown as { broken?: number }).broken,
    parts: [
      ...document.querySelectorAll("img, iframe, object, embed, base, form, foreignObject, meta[http-equiv]"),
    ].map((part) => part.outerHTML.slice(0, 200)),
    scripts: document.querySelectorAll("script:not([src]), script[src*='//']").length,
    handlers: [...document.querySelectorAll("*")].filter((part) =>
      [...part.attributes].some(({ name }) => name.startsWith("on")),
    ).length,
    links: [...document.querySelectorAll("a[href]")]
      .map((link) => (link as HTMLAnchorElement).protocol)
      .filter((protocol) => !/^(?:https?|mailto):$/.test(protocol)),
    elsewhere: [...document.querySelectorAll("a[href^='http']")].filter(
      (link) => link.getAttribute("target") !== "_blank" || !link.getAttribute("rel")?.includes("noopener"),
    ).length,
    wide: document.documentElement.scrollWidth - innerWidth,
  }));
  expect(found).toEqual({
    broken: undefined,
    parts: [],
    scripts: 0,
    handlers: 0,
    links: [],
    elsewhere: 0,
    wide: 0,
  });
}

it("draws what is hostile as text, wherever it stands", async () => {
  stage = await Stage.playing(
    [
      ...WRITTEN.map(([text], at) => ({ say: `${text}\n\nend ${at}` })),
      {
        calls: [
          { name: "write_file", arguments: { path: NAME, content: "fn main() {} // \u202Egnp\u200b.rs <b>x</b>\n" } },
        ],
      },
      {
        calls: [
          {
            name: "bash",
            arguments: {
              command:
                "printf '\\033]0;title\\007\\033[31mred\\033[0m \\033[2J<img src=x onerror=window.broken=21>\\n'; head -c 400000 /dev/zero | tr '\\0' x # \u202Eshow me\u200b",
            },
          },
        ],
      },
      { say: "All done." },
    ],
    { "README.md": "# here\n" },
  );
  const page = await stage.signedIn();
  const field = page.getByRole("textbox", { name: /Say what you want done|Your message/ });
  await field.fill("<b>bold</b> <img src=x onerror=window.broken=30>");
  await page.keyboard.press("Enter");
  for (const [at, [, read]] of WRITTEN.entries()) {
    const answer = page.locator(".track .prose", { hasText: `end ${at}` }).last();
    await answer.waitFor();
    expect(await answer.textContent(), read).toContain(read);
    await isText(page);
    await field.fill(`next ${at}`);
    await page.keyboard.press("Enter");
  }

  // What is asked writes out what can't be seen.
  const dock = page.getByRole("region", { name: "Waits for your decision" });
  await dock.getByText("would make a file").waitFor();
  expect(await dock.textContent()).toContain("U+202E");
  expect(await dock.textContent()).toContain("U+200B");
  await isText(page);
  await dock.getByRole("button", { name: "Allow once" }).click();
  await dock.getByText("would run a command").waitFor();
  expect(await dock.locator(".cmd").textContent()).toContain("U+202E");
  await dock.getByRole("button", { name: "Allow once" }).click();
  await page.getByText("All done.").waitFor();
  await isText(page);

  const home = page.url();
  await page.goto(`${home}/terminal`);
  await page.locator(".row-line", { hasText: "<img src=x onerror=window.broken=21>" }).waitFor();
  await isText(page);
  await page.goto(`${home}/files/${encodeURIComponent(NAME)}`);
  await page.locator(".row-line", { hasText: "U+202E" }).waitFor();
  expect(await page.locator(".pane h2").textContent()).toContain("U+202E");
  await isText(page);
  await page.goto(`${home}/prompt`);
  await page.getByRole("link", { name: /^Who it is/ }).waitFor();
  await isText(page);
  await page.goto(new URL("/", home).href);
  await page.getByRole("navigation", { name: "Sessions" }).getByText("<b>bold</b>").first().waitFor();
  await isText(page);
});
