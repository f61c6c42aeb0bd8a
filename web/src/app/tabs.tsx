//! Where one is in a session, and where else one can go: tabs above the stage, on a phone below it.

import { useEffect, useState } from "react";
import { Link } from "wouter";
import { openAsks } from "../asked";
import { CALL } from "../fold";
import { Dialog, Icon, type KeyAct, useKeyOf } from "../parts";
import { useChanges, useSlices } from "../wire";
import { useWords } from "../words";
import { type SessionView, VIEWS } from "./views";

type Given = { id: string; view: SessionView | undefined };

/** How much there is to see in a view; nothing is not said. */
function useCounts(): Partial<Record<SessionView["name"], number>> {
  const { agents, in_workflow } = useSlices("agents");
  const { data } = useChanges();
  // A single call of a workflow is a task of that, and no agent to people.
  const seen = agents.filter(({ node }) => !(in_workflow && node.role === CALL)).length;
  const changed = data?.files.filter(({ by_others }) => by_others !== true).length ?? 0;
  return { changes: changed, agents: seen > 1 ? seen : 0 };
}

export function Tabs({ id, view }: Given) {
  const words = useWords();
  const counts = useCounts();
  if (VIEWS.length === 0) return null;
  return (
    <nav className="tabs" aria-label={words.views.label}>
      <Tab href={`/s/${id}`} isHere={view === undefined} goes="toChat" label={words.views.chat} />
      {VIEWS.map(({ name, goes }) => (
        <Tab
          key={name}
          href={`/s/${id}/${name}`}
          isHere={view?.name === name}
          goes={goes}
          label={words.views[name]}
          count={counts[name]}
        />
      ))}
    </nav>
  );
}

type TabGiven = { href: string; isHere: boolean; goes: KeyAct; label: string; count?: number | undefined };

function Tab({ href, isHere, goes, label, count = 0 }: TabGiven) {
  return (
    <Link href={href} aria-current={isHere ? "page" : undefined} title={useKeyOf(goes)}>
      {label}
      {count > 0 && <span className="n">{count}</span>}
    </Link>
  );
}

/** The views that have a tab of their own where there is little room; the others are behind the last one. */
const FIRST: readonly SessionView["name"][] = ["changes", "agents", "files"];

export function PhoneTabs({ id, view }: Given) {
  const words = useWords();
  const asks = openAsks(useSlices("asked")).length;
  const [isOpen, setOpen] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: who went there does not choose any more
  useEffect(() => setOpen(false), [id, view]);
  if (VIEWS.length === 0) return null;
  const others = VIEWS.filter(({ name }) => !FIRST.includes(name));
  const isElsewhere = view !== undefined && others.includes(view);
  return (
    <nav className="phone-nav" aria-label={words.views.label}>
      <Link href={`/s/${id}`} aria-current={view === undefined ? "page" : undefined}>
        <Icon name="chat" />
        {words.views.chat}
        {asks > 0 && <span className="pip">{asks}</span>}
      </Link>
      {VIEWS.filter(({ name }) => FIRST.includes(name)).map(({ name, icon }) => (
        <Link key={name} href={`/s/${id}/${name}`} aria-current={view?.name === name ? "page" : undefined}>
          <Icon name={icon} />
          {words.views[name]}
        </Link>
      ))}
      {others.length > 0 && (
        <button
          type="button"
          aria-haspopup="dialog"
          aria-current={isElsewhere ? "page" : undefined}
          onClick={() => setOpen(true)}
        >
          <Icon name="more" />
          {words.views.more}
        </button>
      )}
      {isOpen && (
        <Dialog label={words.views.more} className="sheet" onClose={() => setOpen(false)}>
          {others.map(({ name, icon }) => (
            <Link
              key={name}
              href={`/s/${id}/${name}`}
              className="row"
              aria-current={view?.name === name ? "page" : undefined}
              onClick={() => setOpen(false)}
            >
              <Icon name={icon} />
              {words.views[name]}
            </Link>
          ))}
        </Dialog>
      )}
    </nav>
  );
}
