//! What works in the background: tasks by state, workflows and their runs, and how one is begun.

export { TasksPage } from "./tasks-page";
export { WorkflowsPage } from "./workflows-page";
