//! The worker that lays out graphs.

import type { Layout } from "../src/flow/shape";
import { laidOut } from "./layout";

export type Asked = { id: number; shape: string };

/** A graph that can't be laid out has no layout. */
export type Told = { id: number; layout: Layout | undefined };

self.onmessage = ({ data: { id, shape } }: MessageEvent<Asked>) => {
  const told: Told = { id, layout: tried(shape) };
  self.postMessage(told);
};

function tried(shape: string): Layout | undefined {
  try {
    return laidOut(shape);
  } catch {
    return undefined;
  }
}
