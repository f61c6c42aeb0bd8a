//! The blocks of a session as rows: what was looked at together is one, and what is drawn elsewhere is none.

import { type Block, type BlockOf, isOver } from "../fold";
import { looks } from "./call-words";

export type Row =
  | { key: number; kind: "block"; block: Block; until_ms: number | undefined }
  | { key: number; kind: "looks"; calls: BlockOf<"call">[] };

const TOLD_ELSEWHERE = new Set(["todo_write", "ask_user", "enter_plan_mode", "exit_plan_mode"]);

/** Whether a block has a row of its own. */
function isSeen(block: Block): boolean {
  switch (block.kind) {
    case "session_start":
      return block.data.resumed;
    case "message":
      // What waits is in the queue of the composer.
      return block.data.waits === undefined;
    case "call":
      // What these did is a block of its own.
      return !(TOLD_ELSEWHERE.has(block.data.tool) && block.data.status === "success");
    case "approval":
      // The call says it itself, unless it is another agent's.
      return block.data.agent_id !== undefined;
    default:
      return true;
  }
}

export function rowsOf(blocks: readonly Block[]): Row[] {
  const rows: Row[] = [];
  let looked: BlockOf<"call">[] = [];
  const flush = () => {
    const [first] = looked;
    if (first === undefined) return;
    if (looked.length === 1) rows.push({ key: first.id, kind: "block", block: first, until_ms: undefined });
    else rows.push({ key: first.id, kind: "looks", calls: looked });
    looked = [];
  };
  blocks.forEach((block, at) => {
    if (!isSeen(block)) return;
    if (block.kind === "call" && block.data.status === "success" && isOver(block.data) && looks(block.data.tool)) {
      looked.push(block);
      return;
    }
    // A thought between two looks is about them.
    flush();
    const last = rows.at(-1);
    // Of lists that follow each other the last one counts.
    if (block.kind === "todos" && last?.kind === "block" && last.block.kind === "todos") rows.pop();
    rows.push({ key: block.id, kind: "block", block, until_ms: blocks[at + 1]?.at_ms });
  });
  flush();
  return rows;
}
