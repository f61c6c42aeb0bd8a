//! A block as a row of the track. Each kind says what it says in one line where it can.

import { memo, type ReactNode, useState } from "react";
import { Link } from "wouter";
import type { Block, BlockOf } from "../fold";
import { cleanLine, written } from "../fold";
import { Glyph, Icon } from "../parts";
import { Markdown, withCode } from "../text";
import { useBlock, useSession } from "../wire";
import { useFormat, useWords } from "../words";
import { CallRow } from "./call-row";
import { EndRow } from "./end-row";
import { Track } from "./track-line";

type Place = { first: boolean; last: boolean };

export const BlockRow = memo(
  ({ block, until_ms, ...place }: Place & { block: Block; until_ms: number | undefined }) => {
    switch (block.kind) {
      case "call":
        return <CallRow block={block} {...place} />;
      case "message":
        return <Said block={block} {...place} />;
      case "answer":
        return <Answer block={block as BlockOf<"answer">} {...place} />;
      case "thinking":
        return <Thought block={block as BlockOf<"thinking">} until_ms={until_ms} {...place} />;
      case "end":
        return <EndRow block={block} {...place} />;
      default:
        return <Notice block={block} {...place} />;
    }
  },
);

function Said({ block, ...place }: Place & { block: BlockOf<"message"> }) {
  useBlock(block);
  const words = useWords();
  const { text, pictures } = block.data;
  const own = written(text);
  return (
    <Track
      at_ms={block.at_ms}
      isVoid={block.void}
      node={<Glyph shape="you" tone="off" label={words.block.you} />}
      {...place}
    >
      <div className="said">
        {withCode(own)}
        {pictures !== undefined && <p className="dim small">{words.block.pictures(pictures)}</p>}
        {own.length < text.length && <Along text={text.slice(own.length).trim()} />}
      </div>
    </Track>
  );
}

/** What was sent along with a message, which is long. */
function Along({ text }: { text: string }) {
  const [isOpen, setOpen] = useState(false);
  const [head] = text.split("\n", 1);
  return (
    <>
      <button type="button" className="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name={isOpen ? "down" : "right"} small />
        {head}
      </button>
      {isOpen && <pre className="out">{text}</pre>}
    </>
  );
}

function Answer({ block, ...place }: Place & { block: BlockOf<"answer"> }) {
  useBlock(block);
  const words = useWords();
  const { pieces, over } = block.data;
  const node = over ? <Glyph shape="dot" tone="done" label={words.block.said} /> : <span className="pulse" />;
  return (
    <Track at_ms={block.at_ms} isVoid={block.void} node={node} {...place}>
      <Markdown text={pieces.join("")}>{!over && <span className="caret" />}</Markdown>
    </Track>
  );
}

function Thought({ block, until_ms, ...place }: Place & { block: BlockOf<"thinking">; until_ms: number | undefined }) {
  useBlock(block);
  const words = useWords();
  const format = useFormat();
  const { pieces, over } = block.data;
  const [isOpen, setOpen] = useState(false);
  const node = over ? (
    <Glyph shape="group" tone="plan" label={words.block.thinking} />
  ) : (
    <Glyph shape="run" tone="run" label={words.block.thinking} />
  );
  const took = until_ms === undefined ? undefined : until_ms - block.at_ms;
  return (
    <Track at_ms={block.at_ms} isVoid={block.void} node={node} {...place}>
      <button type="button" className="call" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span>
          {over && took !== undefined
            ? words.block.thought(format.duration(Math.max(took, 1000)))
            : words.block.thinking}
        </span>
        <span className="end">
          <Icon name={isOpen ? "down" : "right"} small />
        </span>
      </button>
      {isOpen && <div className="thought">{pieces.join("").trim()}</div>}
    </Track>
  );
}

/** Everything that is said in a line or two. */
function Notice({ block, ...place }: Place & { block: Block }) {
  useBlock(block);
  const drawn = useNotice(block);
  if (drawn === null) return null;
  return (
    <Track at_ms={block.at_ms} isVoid={block.void} node={drawn.node} {...place}>
      {drawn.words}
    </Track>
  );
}

const DOT = <Glyph shape="dot" tone="done" />;

function line(verb: ReactNode, what?: ReactNode, end?: ReactNode): ReactNode {
  return (
    <div className="call">
      <b>{verb}</b>
      <span className="dim cut">{what}</span>
      <span className="end">{end}</span>
    </div>
  );
}

/** What went wrong is read as a whole, however long it is. */
function trouble(what: ReactNode, end: ReactNode): ReactNode {
  return (
    <div className="call wraps">
      <b>{what}</b>
      <span className="end">{end}</span>
    </div>
  );
}

const rule = (words: ReactNode) => <div className="rule">{words}</div>;

function useNotice(block: Block): { node: ReactNode; words: ReactNode } | null {
  const words = useWords();
  const format = useFormat();
  const { view, id: session } = useSession();
  const toAgent = (name: string) => (
    <Link className="mono to-agent" href={`/s/${session}/agents/${encodeURIComponent(name)}`}>
      {name}
    </Link>
  );
  const name = (agent: string | undefined) =>
    view.agents.find(({ node }) => node.id === agent)?.node.name ?? words.asked.agent;
  const say = words.block;
  switch (block.kind) {
    case "session_start":
      return { node: DOT, words: rule(say.resumed) };
    case "notification":
      return {
        node: <Glyph shape={block.data.level === "warning" ? "pause" : "dot"} tone="done" />,
        words: <div className="note">{block.data.text}</div>,
      };
    case "error":
      return {
        node: <Glyph shape="fail" tone="fail" label={words.call.failed} />,
        words: trouble(<span className="del">{block.data.message}</span>, say.error(block.data.code)),
      };
    case "model_retry": {
      const { attempt, attempts, wait_ms, message } = block.data;
      return {
        node: <Glyph shape="wait" tone="wait" />,
        words: trouble(message, say.retry(attempt, attempts ?? 0, format.duration(wait_ms))),
      };
    }
    case "model_switch":
      return { node: DOT, words: trouble(say.rests(block.data.from, block.data.to), block.data.message) };
    case "mode_change": {
      const { mode, model, generation, approval, reason } = block.data;
      const changes = [
        mode && say.changed.mode(words.composer.modes[mode]),
        model && say.changed.model(model),
        generation !== undefined && say.changed.level(generation),
        approval && say.changed.approval(words.composer.approvals[approval]),
      ].filter(Boolean);
      return { node: DOT, words: rule([...changes, reason].filter(Boolean).join(" · ")) };
    }
    case "hook_run":
      return {
        node: (
          <Glyph
            shape={block.data.outcome === "blocked" || block.data.outcome === "stopped" ? "no" : "dot"}
            tone="done"
          />
        ),
        words: line(say.hook, block.data.message ?? block.data.hook, format.duration(block.data.duration_ms)),
      };
    case "rules_told":
      return { node: DOT, words: line(say.rules, <span className="mono">{block.data.files.join(" ")}</span>) };
    case "skill_used":
      return { node: DOT, words: line(say.skill, <span className="mono">{block.data.name}</span>) };
    case "pieces_given":
      return {
        node: DOT,
        words: line(say.pieces(block.data.pieces.length), block.data.pieces.map((piece) => piece.path).join(" ")),
      };
    case "compaction":
      return { node: DOT, words: rule(say.shorter(format.tokens(block.data.before), format.tokens(block.data.after))) };
    case "imported":
      return { node: DOT, words: rule(say.imported(block.data.from)) };
    case "stop":
      return { node: <Glyph shape="pause" tone="off" />, words: line(say.stopAll) };
    case "rewind": {
      const { before, changed, reverted, undoes } = block.data;
      if (reverted !== undefined) {
        const names = reverted.map(({ path, changes }) => say.revertedFile(cleanLine(path), changes));
        return { node: DOT, words: rule(say.reverted(names.join(" · "))) };
      }
      const what = undoes !== undefined ? say.undone : before === undefined ? say.wentBack : say.wentBackTo(before);
      return { node: DOT, words: rule([what, changed ? say.files(changed) : ""].filter(Boolean).join(" · ")) };
    }
    case "todos": {
      const { todos } = block.data;
      const now = todos.find((todo) => todo.status === "in_progress");
      const done = todos.filter((todo) => todo.status === "completed").length;
      return {
        node: <Glyph shape="group" tone="done" />,
        words: line(say.todo, now?.text, say.todoDone(done, todos.length)),
      };
    }
    case "plan": {
      const { plan, found } = block.data;
      if (found !== undefined)
        return { node: <Glyph shape="group" tone="plan" />, words: line(say.found, found.join(" · ")) };
      if (plan === undefined) return null;
      return {
        node: <Glyph shape="group" tone="plan" />,
        words:
          plan.status === "proposed" ? (
            <div className="well plan">
              <Markdown text={plan.text} />
            </div>
          ) : (
            line(say.plan[plan.status], cleanLine(plan.steps?.[0]?.text ?? ""))
          ),
      };
    }
    case "agent": {
      const { did, node } = block.data;
      const ended = did === "ended" ? say.agentState[node.state] : undefined;
      const glyph =
        did !== "ended" ? (
          <Glyph shape={did === "paused" ? "pause" : "done"} tone="done" />
        ) : node.state === "failed" ? (
          <Glyph shape="fail" tone="fail" label={ended ?? ""} />
        ) : (
          <Glyph shape={node.state === "cancelled" ? "off" : "done"} tone="done" />
        );
      const end = [ended, format.spent(node.subtree_usage)].filter(Boolean).join(" · ");
      return {
        node: glyph,
        words: line(
          say.agentDid[did],
          <>
            {toAgent(node.name)} {cleanLine(node.task)}
          </>,
          end,
        ),
      };
    }
    case "letter": {
      const { letter } = block.data;
      const text =
        letter.way === "up" && letter.kind === "report"
          ? letter.message
          : "text" in letter
            ? letter.text
            : "why" in letter
              ? letter.why
              : "";
      return {
        node: letter.way === "up" && letter.kind === "question" ? <Glyph shape="ask" tone="done" /> : DOT,
        words: line(toAgent(block.data.name), `${say.letter[letter.kind]} · ${cleanLine(text)}`),
      };
    }
    case "workflow": {
      const { tasks, moved, state } = block.data;
      return {
        node: <Glyph shape="group" tone="done" />,
        words: line(
          say.workflow,
          `${block.data.name} · ${(moved.length > 0 ? moved : tasks.map((task) => task.id)).join(" ")}`,
          say.workflowState[state],
        ),
      };
    }
    case "approval": {
      const { agent_id, request, decision, open } = block.data;
      const what = decision === undefined ? (open ? words.call.waits : say.noAnswer) : say.decision[decision.kind];
      return {
        node: open ? (
          <Glyph shape="ask" tone="ask" label={words.call.waits} />
        ) : (
          <Glyph shape={decision?.kind === "reject" ? "no" : "done"} tone="done" />
        ),
        words: line(
          <span className="mono">{name(agent_id)}</span>,
          withCode(cleanLine(request.summary)),
          <span className={open ? "ask" : ""}>{what}</span>,
        ),
      };
    }
    case "question": {
      const { agent_id, question, reply, open } = block.data;
      const asked =
        question.about === "choices"
          ? question.items.map((item) => item.text).join(" · ")
          : question.about === "loop"
            ? question.text
            : say.plan.proposed;
      const answer =
        reply === undefined
          ? open
            ? words.call.waits
            : say.noAnswer
          : reply.kind === "choices"
            ? reply.answers.map((each) => [...(each.chosen ?? []), each.text].filter(Boolean).join(", ")).join(" · ")
            : reply.kind === "dismiss" || reply.kind === "drop_plan"
              ? say.dismissed
              : "comments" in reply && reply.comments
                ? reply.comments
                : say.decision.once;
      return {
        node: open ? <Glyph shape="ask" tone="ask" label={words.call.waits} /> : <Glyph shape="dot" tone="done" />,
        words: (
          <div className="call answered">
            <b>{agent_id === undefined ? words.asked.asks : `${name(agent_id)} ${words.asked.asks}`}</b>
            <span className="dim cut">{cleanLine(asked)}</span>
            <span className={open ? "ask end" : "end what"}>{answer}</span>
          </div>
        ),
      };
    }
    case "message":
    case "answer":
    case "thinking":
    case "call":
    case "end":
      return null;
  }
}
