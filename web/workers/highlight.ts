//! The worker that colours texts: short ones first, so that a big file keeps nobody waiting who came before its turn.

import { partsOf } from "./colours";

export type Asked = { id: number; text: string; language: string };

export type Told = { id: number; parts: Uint32Array<ArrayBuffer> };

const waiting: Asked[] = [];
let works = false;

async function work(): Promise<void> {
  works = true;
  for (;;) {
    // What has come meanwhile is looked at first.
    await new Promise((resolve) => setTimeout(resolve));
    waiting.sort((one, other) => other.text.length - one.text.length);
    const asked = waiting.pop();
    if (asked === undefined) break;
    const { id, text, language } = asked;
    // A parser that can't read something leaves it without colours.
    const parts = await partsOf(text, language).catch(() => new Uint32Array());
    const told: Told = { id, parts };
    self.postMessage(told, { transfer: [parts.buffer] });
  }
  works = false;
}

self.onmessage = ({ data }: MessageEvent<Asked>) => {
  waiting.push(data);
  if (!works) void work();
};
