//! What the model is told, exactly.

export { Prompt } from "./prompt";
