//! What a page says of itself while it is measured: when something was painted, when pieces came, how long its main thread
//! was at work.

import type { Browser, Page } from "playwright-core";

declare global {
  interface Window {
    figures: {
      /** Pieces of the model's words: when the server wrote them, and how long the text was with them. */
      pieces: { at: number; from: number; until: number }[];
      /** How long the text was that was painted, and when. */
      painted: { at: number; length: number }[];
      keys: number[];
      isHidden: boolean;
    };
  }
}

/** Runs in the page before anything else does. */
export function watch(): void {
  window.figures = { pieces: [], painted: [], keys: [], isHidden: false };
  const { figures } = window;
  const Real = window.WebSocket;
  window.WebSocket = class extends Real {
    constructor(address: string | URL, protocols?: string | string[]) {
      super(address, protocols);
      let length = 0;
      this.addEventListener("message", ({ data }: MessageEvent<string>) => {
        if (!data.includes('"stream_chunk"')) return;
        const { ts, text } = (JSON.parse(data) as { says: { event: { ts: string; text: string } } }).says.event;
        const from = length;
        length += text.length;
        figures.pieces.push({ at: Date.parse(ts), from, until: length });
      });
    }
  };
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (entry.name === "keydown") figures.keys.push(entry.duration);
  }).observe({ type: "event", durationThreshold: 16 } as PerformanceObserverInit);
  Object.defineProperty(document, "visibilityState", { get: () => (figures.isHidden ? "hidden" : "visible") });
}

/** Has the page note from now on how much of its last answer is painted. */
export async function notePainted(page: Page): Promise<void> {
  await page.evaluate(() => {
    const { painted } = window.figures;
    const look = () => {
      // What runs after a frame's callbacks in a task of its own runs when the frame is painted.
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        const all = document.querySelectorAll(".track .prose");
        const length = all[all.length - 1]?.textContent?.length ?? 0;
        if (length !== painted.at(-1)?.length) painted.push({ at: Date.now(), length });
      };
      port2.postMessage(0);
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
}

/** How long it takes, in milliseconds, from something that is done in the page until a text is painted in it. */
export function untilPainted(page: Page, does: string, selector: string, text: string): Promise<number> {
  return page.evaluate(
    ({ does, selector, text }) =>
      new Promise<number>((resolve) => {
        const began = performance.now();
        const look = () => {
          const isThere = [...document.querySelectorAll(selector)].some((one) => one.textContent?.includes(text));
          if (!isThere) return requestAnimationFrame(look);
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = () => resolve(performance.now() - began);
          return requestAnimationFrame(() => port2.postMessage(0));
        };
        if (does === "online") dispatchEvent(new Event("online"));
        else document.querySelector<HTMLElement>(does)?.click();
        requestAnimationFrame(look);
      }),
    { does, selector, text },
  );
}

type Traced = {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  dur?: number;
  tdur?: number;
  args: { name?: string };
};

/** How long each piece of work of the page's main thread takes meanwhile, in milliseconds of its own time. */
export async function tasks(browser: Browser, page: Page, work: () => Promise<void>): Promise<number[]> {
  await browser.startTracing(page, { categories: ["toplevel", "devtools.timeline", "__metadata"] });
  await work();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: Traced[] };
  const mains = new Set(
    traceEvents
      .filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain")
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  return traceEvents
    .filter(({ name, pid, tid }) => name === "ThreadControllerImpl::RunTask" && mains.has(`${pid} ${tid}`))
    .map(({ tdur, dur }) => (tdur ?? dur ?? 0) / 1000);
}

/** The memory that the page's scripts hold once nothing of it is left to be thrown away, in megabytes. */
export async function held(page: Page): Promise<number> {
  const client = await page.context().newCDPSession(page);
  await client.send("HeapProfiler.collectGarbage");
  await client.send("Performance.enable");
  const { metrics } = await client.send("Performance.getMetrics");
  return (metrics.find(({ name }) => name === "JSHeapUsedSize")?.value ?? Number.NaN) / 1e6;
}
