//! Workflows as they are drawn: a graph, a list, steps; for every view that shows one.

export { Flow } from "./flow";
export { RunGlyph, Steps, TaskGlyph } from "./glyphs";
export { counted, isOver, type Step, shownRunOf, stepsOf } from "./standing";
export { TaskCard } from "./task-card";
