//! What an agent may use from its next turn on: model, tokens, money, tools.

import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import { isLive } from "../fold";
import { Icon } from "../parts";
import { models, useIsLive, useSlices } from "../wire";
import { useWords } from "../words";
import { parametersOf } from "./parameters";
import { useOrders } from "./steer";
import type { Row } from "./tree";

export function Limits({ row }: { row: Row }) {
  const words = useWords();
  const isOnline = useIsLive();
  const { standing } = useSlices("standing");
  const { send, trouble, isSending } = useOrders(row.id);
  const [isOpen, setOpen] = useState(false);
  const [note, setNote] = useState("");
  const id = useId();
  const { data } = useQuery({
    queryKey: ["models", standing.cwd],
    queryFn: () => models.list(standing.cwd),
    enabled: isOpen && standing.cwd !== "",
    staleTime: 60_000,
  });
  const { node } = row;
  if (node === undefined || !isLive(node.state)) return null;
  const names = [...Object.keys(data?.groups ?? {}), ...(data?.models ?? []).map(({ name }) => name)];

  const save = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const field = (name: string) => String(given.get(name) ?? "");
    const wanted = { model: field("model"), tokens: field("tokens"), cost: field("cost"), tools: field("tools") };
    const parameters = parametersOf(wanted, node.model_group);
    if (parameters === undefined) return setNote(words.tree.notNumber);
    setNote("");
    if (await send({ kind: "update_parameters", ...parameters })) setNote(words.tree.saved);
  };
  return (
    <section className="sect">
      <button type="button" className="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name={isOpen ? "down" : "right"} small />
        {words.tree.limits}
      </button>
      {isOpen && (
        <form className="limits" aria-label={words.tree.limitsOf(row.name)} onSubmit={(event) => void save(event)}>
          <p className="dim small">{words.tree.limitsWhat}</p>
          <label>
            <span>{words.tree.limitModel}</span>
            <input className="field" name="model" list={id} defaultValue={node.model_group} spellCheck={false} />
          </label>
          <datalist id={id}>
            {names.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
          <label>
            <span>{words.tree.limitTokens}</span>
            <input className="field" name="tokens" inputMode="numeric" defaultValue={node.budget?.tokens ?? ""} />
          </label>
          <label>
            <span>{words.tree.limitCost}</span>
            <input className="field" name="cost" inputMode="decimal" defaultValue={node.budget?.cost ?? ""} />
          </label>
          <label>
            <span>{words.tree.limitTools}</span>
            <input className="field" name="tools" placeholder={words.tree.limitToolsSame} spellCheck={false} />
          </label>
          <div className="acts">
            <button type="submit" className="btn" disabled={!isOnline || isSending}>
              {words.tree.save}
            </button>
            <span className="dim small" role="status">
              {note}
            </span>
          </div>
          {trouble !== undefined && (
            <p className="trouble" role="alert">
              {words.tree.trouble(trouble)}
            </p>
          )}
        </form>
      )}
    </section>
  );
}
