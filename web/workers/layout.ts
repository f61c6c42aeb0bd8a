//! Where the tasks of a workflow stand, and the lines between them: worked out by a worker, as it takes its time.

import { Graph, layout } from "@dagrejs/dagre";
import { type Layout, NODE } from "../src/flow/shape";

const GAP = { along: 52, across: 20, edge: 20 };

type Point = { x: number; y: number };

export function laidOut(shape: string): Layout {
  const tasks = JSON.parse(shape) as [string, string[]][];
  const graph = new Graph();
  graph.setGraph({
    rankdir: "LR",
    // As good here as the usual one, in half the time.
    ranker: "tight-tree",
    ranksep: GAP.along,
    nodesep: GAP.across,
    edgesep: GAP.edge,
    marginx: 24,
    marginy: 24,
  });
  graph.setDefaultEdgeLabel(() => ({}));
  const known = new Set(tasks.map(([id]) => id));
  for (const [id] of tasks) graph.setNode(id, { ...NODE });
  for (const [id, needs] of tasks) for (const need of needs) if (known.has(need)) graph.setEdge(need, id);
  layout(graph);
  const at = (id: string) => graph.node(id) as unknown as Point;
  const columns = [...new Set(tasks.map(([id]) => Math.round(at(id).x)))].sort((one, other) => one - other);
  const nodes = tasks.map(([id]) => ({
    id,
    x: at(id).x - NODE.width / 2,
    y: at(id).y - NODE.height / 2,
    rank: columns.indexOf(Math.round(at(id).x)),
  }));
  const lines = graph.edges().map(({ v, w }) => {
    const { points } = graph.edge(v, w) as unknown as { points: Point[] };
    return { from: v, to: w, path: pathOf(at(v), at(w), points.slice(1, -1)) };
  });
  const size = graph.graph() as unknown as { width?: number; height?: number };
  return { nodes, lines, width: finite(size.width), height: finite(size.height) };
}

const finite = (size: number | undefined) => (size !== undefined && Number.isFinite(size) ? size : 0);

/** From the right edge of one to the left edge of another, by way of points where it passes others. */
function pathOf(from: Point, to: Point, between: readonly Point[]): string {
  const first = { x: from.x + NODE.width / 2, y: from.y };
  const last = { x: to.x - NODE.width / 2 - 3, y: to.y };
  // A line between neighbours needs no more than its ends.
  const isFar = last.x - first.x > 2 * GAP.along;
  const points = [first, ...(isFar ? between.filter(({ x }) => x > first.x && x < last.x) : []), last];
  const steps = points.slice(1).map((point, at) => {
    const before = points[at] ?? first;
    const half = (before.x + point.x) / 2;
    return `C${round(half)} ${round(before.y)} ${round(half)} ${round(point.y)} ${round(point.x)} ${round(point.y)}`;
  });
  return `M${round(first.x)} ${round(first.y)}${steps.join("")}`;
}

const round = (value: number) => Math.round(value * 10) / 10;
