//! What a graph of tasks looks like: its shape, where each task stands in it, and where arrows lead.

import type { WorkflowTask } from "../proto";

export const NODE = { width: 164, height: 54 };

export type Placed = { id: string; x: number; y: number; rank: number };

export type Line = { from: string; to: string; path: string };

export type Layout = { nodes: Placed[]; lines: Line[]; width: number; height: number };

/** What a layout depends on: tasks and what they need, not how they stand. */
export const shapeOf = (tasks: readonly WorkflowTask[]): string =>
  JSON.stringify(tasks.map(({ id, needs }) => [id, needs ?? []]));

export type Way = "left" | "right" | "up" | "down";

/** The task that an arrow leads to: along the lines, or among those that stand side by side. */
export function nextTo({ nodes, lines }: Layout, id: string, way: Way): string | undefined {
  const here = nodes.find((node) => node.id === id);
  if (here === undefined) return undefined;
  const near = (some: readonly Placed[]) =>
    some.toSorted((one, other) => Math.abs(one.y - here.y) - Math.abs(other.y - here.y))[0]?.id;
  const among = (ids: readonly string[]) => nodes.filter((node) => ids.includes(node.id));
  switch (way) {
    case "left":
      return near(among(lines.filter(({ to }) => to === id).map(({ from }) => from)));
    case "right":
      return near(among(lines.filter(({ from }) => from === id).map(({ to }) => to)));
    case "up":
      return near(nodes.filter(({ rank, y }) => rank === here.rank && y < here.y));
    case "down":
      return near(nodes.filter(({ rank, y }) => rank === here.rank && y > here.y));
  }
}
