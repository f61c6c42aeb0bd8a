//! What a person is asked: whether a call may run, and what an agent wants to know.

import type { Payload, Question } from "../proto";
import type { BlockOf } from "./block";
import { add, touch, type View } from "./view";

export function approval(view: View, agent: string | undefined, request: Payload<"permission_request">): void {
  const data = { ...(agent && { agent_id: agent }), request, open: true };
  view.approvals.set(request.call_id, add(view, { kind: "approval", data }) as BlockOf<"approval">);
  touch(view, "asked");
}

export function decided(view: View, { call_id, decision }: Payload<"permission_decision">): void {
  const found = view.approvals.get(call_id);
  if (found === undefined) return;
  found.data.decision = decision;
  found.data.open = false;
  found.rev += 1;
  touch(view, "asked");
}

export function question(view: View, agent: string | undefined, question: Question): void {
  const data = { ...(agent && { agent_id: agent }), question, open: true };
  view.questions.set(question.question_id, add(view, { kind: "question", data }) as BlockOf<"question">);
  touch(view, "asked");
}

export function answered(view: View, { question_id, reply }: Payload<"question_answer">): void {
  const found = view.questions.get(question_id);
  if (found === undefined) return;
  const { question } = found.data;
  if (reply === undefined) delete found.data.reply;
  else found.data.reply = reply;
  found.data.open = false;
  found.rev += 1;
  touch(view, "asked");
  const call = question.call_id === undefined ? undefined : view.open.get(question.call_id);
  if (call === undefined || question.about !== "choices" || reply === undefined) return;
  const left = reply.kind === "dismiss" || (reply.kind === "choices" && reply.answers.length < question.items.length);
  if (left) {
    call.data.unanswered = true;
    call.rev += 1;
  }
}

/** A call that was asked about ended otherwise than by a decision. */
export function close(view: View, call: string): void {
  const found = view.approvals.get(call);
  if (found?.data.open !== true) return;
  found.data.open = false;
  found.rev += 1;
  touch(view, "asked");
}
