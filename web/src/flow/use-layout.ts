//! The layout of a graph: worked out once for each shape, by a worker.

import { useEffect, useState } from "react";
import type { Asked, Told } from "../../workers/graph";
import { Asker } from "../parts";
import type { Layout } from "./shape";

/** Layouts that are kept. */
const KEPT = 32;

const known = new Map<string, Layout>();
const worker = new Asker<Omit<Asked, "id">, Told>("graph");

/** What is known of a layout: null where none can be had. */
type Found = { layout: Layout | null };

function keep(shape: string, layout: Layout): void {
  known.set(shape, layout);
  const [oldest] = known.keys();
  if (known.size > KEPT && oldest !== undefined) known.delete(oldest);
}

/** The layout of a shape. Until it is there that of the shape before holds, and undefined where there was none. */
export function useLayout(shape: string): Layout | null | undefined {
  const [found, setFound] = useState<Found>();
  useEffect(() => {
    const already = known.get(shape);
    if (already !== undefined) return setFound({ layout: already });
    let isWanted = true;
    worker.ask({ shape }, (told) => {
      const layout = told?.layout ?? null;
      if (layout !== null) keep(shape, layout);
      if (isWanted) setFound({ layout });
    });
    return () => {
      isWanted = false;
    };
  }, [shape]);
  return known.get(shape) ?? found?.layout;
}
