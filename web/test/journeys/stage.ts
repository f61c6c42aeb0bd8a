//! A house of its own for a test: a home, a project, a scripted model, the real program serving it, and a browser.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { Cable } from "./cable";

/** The program that is tried: `cargo xtask test` says which one. */
const PROGRAM = process.env.NECO_BIN ?? join(import.meta.dirname, "../../../target/debug/neco");

const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** Where the page is served while it is worked on, instead of by the program. */
const PAGE = process.env.NECO_PAGE;

/** The port where that then finds the server. */
const PORT = Number(process.env.NECO_PORT ?? 0);

/** Nothing of the browser itself asks anything of the network. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** How long something may take on a machine that is busy. */
export const PATIENCE = 30_000;

export type Turn = {
  say?: string;
  reasoning?: string;
  calls?: { name: string; arguments: unknown }[];
  usage?: { input: number; output: number; cache_read?: number };
  delay_ms?: number;
  between_ms?: number;
  fault?: unknown;
  expect?: unknown;
};

/** What agents below the root say, by their role and their task. */
export type Part = { role?: string; task?: string; turns: Turn[] };

export class Stage {
  readonly folder: string;
  readonly project: string;
  readonly env: Record<string, string>;
  #server: ChildProcess | undefined;
  /** What the pages reach the server by. */
  readonly cable: Cable;
  #browser: Browser | undefined;
  /** What the pages said that they should not have. */
  readonly complaints: string[] = [];

  private constructor(
    cable: Cable,
    turns: Turn[] | undefined,
    files: Record<string, string>,
    settings: string,
    agents: Part[] = [],
  ) {
    this.cable = cable;
    this.folder = mkdtempSync(join(tmpdir(), "neco-web-"));
    this.project = join(this.folder, "harbor");
    const home = join(this.folder, "home");
    mkdirSync(home);
    mkdirSync(this.project);
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.project, name)), { recursive: true });
      writeFileSync(join(this.project, name), text);
    }
    writeFileSync(join(home, "config.toml"), `${turns === undefined ? "" : this.#actor(turns, agents)}${settings}`);
    this.env = {
      PATH: process.env.PATH ?? "",
      HOME: home,
      NECO_HOME: home,
      TMPDIR: this.folder,
      LANG: "C.UTF-8",
      CI: "1",
    };
  }

  /** The settings of a model that says this. */
  #actor(turns: Turn[], agents: Part[]): string {
    const script = join(this.folder, "script.json");
    writeFileSync(script, JSON.stringify({ turns, agents, context_window: 200_000 }));
    const provider = `[model_providers.play]\ntype = "scripted"\nscript = ${JSON.stringify(script)}\n`;
    return `model = "play/actor"\n${provider}[sessions]\nmodel_title = false\n[memory]\nextract = false\n`;
  }

  /** A house without a model. */
  static async bare(settings: string): Promise<Stage> {
    const stage = new Stage(await Cable.laid(PORT), undefined, {}, settings);
    await stage.serve();
    return stage;
  }

  /** A house whose model says this, with a server that listens. */
  static async playing(
    turns: Turn[],
    files: Record<string, string> = {},
    settings = "",
    agents: Part[] = [],
  ): Promise<Stage> {
    const stage = new Stage(await Cable.laid(PORT), turns, files, settings, agents);
    await stage.serve();
    return stage;
  }

  /** Runs the program and gives what it prints. */
  run(...words: string[]): string {
    return execFileSync(PROGRAM, words, { env: this.env, cwd: this.project, encoding: "utf8" });
  }

  async serve(): Promise<void> {
    const host = this.cable.origin.slice("http://".length);
    this.#server = spawn(PROGRAM, ["serve", "--bind", "127.0.0.1:0", "--host", host], {
      env: this.env,
      cwd: this.project,
      stdio: "ignore",
    });
    await until("the server listens", () => {
      try {
        this.cable.target = Number(new URL(this.url()).port);
        return true;
      } catch {
        return false;
      }
    });
  }

  /** A link that signs a browser in, with the project chosen. */
  link(): string {
    const link = this.run("serve", "link")
      .trim()
      .replace("/#", `/?folder=${encodeURIComponent(this.project)}#`);
    return link.replace(this.url(), this.origin);
  }

  /** Where pages are. */
  get origin(): string {
    return PAGE ?? this.cable.origin;
  }

  /** Where the server listens. */
  url(): string {
    return (JSON.parse(this.run("serve", "status", "--json")) as { url: string }).url;
  }

  /** The server ends, and agents with it. */
  async stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    const gone = new Promise((resolve) => server.once("exit", resolve));
    server.kill("SIGTERM");
    await gone;
    this.#server = undefined;
  }

  async browser(): Promise<Browser> {
    this.#browser ??= await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
    return this.#browser;
  }

  /** A browser of its own that is signed in by a link. */
  async signedIn(options: Parameters<Browser["newContext"]>[0] = {}): Promise<Page> {
    const browser = await this.browser();
    const context = await browser.newContext({ locale: "en-GB", timezoneId: "UTC", ...options });
    context.setDefaultTimeout(PATIENCE);
    const page = await this.tab(context);
    await page.goto(this.link());
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    return page;
  }

  /** Another tab of the same browser. */
  async tab(context: BrowserContext): Promise<Page> {
    const page = await context.newPage();
    page.on("console", (message) => {
      // A server that is away is no fault of the page.
      if (
        message.type() === "error" &&
        !/ERR_CONNECTION_|ERR_EMPTY_RESPONSE|WebSocket connection/.test(message.text())
      ) {
        this.complaints.push(message.text());
      }
    });
    page.on("pageerror", (error) => this.complaints.push(String(error)));
    page.on("request", (request) => {
      const { protocol, origin } = new URL(request.url());
      if (/^(?:https?|wss?):$/.test(protocol) && !origin.includes("127.0.0.1"))
        this.complaints.push(`asks ${request.url()}`);
    });
    return page;
  }

  async end(): Promise<void> {
    await this.#browser?.close();
    await this.cable.cut();
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + PATIENCE;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}
