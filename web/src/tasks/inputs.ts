//! What a workflow is started with, as fields of a form: an input has the type of its default, and is text without one.

import type { Json, WorkflowInput } from "../proto";

export type InputKind = "text" | "number" | "yes" | "json";

export function kindOf({ default: usual }: WorkflowInput): InputKind {
  if (typeof usual === "boolean") return "yes";
  if (typeof usual === "number") return "number";
  return usual === undefined || usual === null || typeof usual === "string" ? "text" : "json";
}

/** What stands in a field before somebody writes there. */
export function usualText({ default: usual }: WorkflowInput): string {
  if (usual === undefined || usual === null) return "";
  return typeof usual === "string" ? usual : JSON.stringify(usual);
}

export const isNeeded = ({ default: usual }: WorkflowInput): boolean => usual === undefined || usual === null;

type Read = { inputs: Record<string, Json> } | { wrong: string };

/** The values of a form; or the first input whose text is none of its kind. */
export function readInputs(declared: Record<string, WorkflowInput>, given: (name: string) => string): Read {
  const inputs: Record<string, Json> = {};
  for (const [name, input] of Object.entries(declared)) {
    const text = given(name);
    if (text === "" && !isNeeded(input) && kindOf(input) !== "text") continue;
    if (text.trim() === "" && isNeeded(input)) return { wrong: name };
    switch (kindOf(input)) {
      case "text":
        inputs[name] = text;
        break;
      case "yes":
        inputs[name] = text === "true";
        break;
      case "number": {
        const value = Number(text);
        if (!Number.isFinite(value)) return { wrong: name };
        inputs[name] = value;
        break;
      }
      case "json":
        try {
          inputs[name] = JSON.parse(text);
        } catch {
          return { wrong: name };
        }
    }
  }
  return { inputs };
}
