//! Where one is in a session, and where else one can go: tabs above the stage, on a phone below it.

import { Link } from "wouter";
import { openAsks } from "../asked";
import { CALL } from "../fold";
import { Icon } from "../parts";
import { useSlices } from "../wire";
import { useWords } from "../words";
import { type SessionView, VIEWS } from "./views";

type Given = { id: string; view: SessionView | undefined };

/** How much there is to see in a view; nothing is not said. */
function useCounts(): Partial<Record<SessionView["name"], number>> {
  const { edits, agents, in_workflow } = useSlices("changes", "agents");
  // A single call of a workflow is a task of that, and no agent to people.
  const seen = agents.filter(({ node }) => !(in_workflow && node.role === CALL)).length;
  return { changes: new Set(edits.map(({ path }) => path)).size, agents: seen > 1 ? seen : 0 };
}

export function Tabs({ id, view }: Given) {
  const words = useWords();
  const counts = useCounts();
  if (VIEWS.length === 0) return null;
  return (
    <nav className="tabs" aria-label={words.views.label}>
      <Link href={`/s/${id}`} aria-current={view === undefined ? "page" : undefined} title="g c">
        {words.views.chat}
      </Link>
      {VIEWS.map(({ name, letter }) => (
        <Link
          key={name}
          href={`/s/${id}/${name}`}
          aria-current={view?.name === name ? "page" : undefined}
          title={`g ${letter}`}
        >
          {words.views[name]}
          {(counts[name] ?? 0) > 0 && <span className="n">{counts[name]}</span>}
        </Link>
      ))}
    </nav>
  );
}

export function PhoneTabs({ id, view }: Given) {
  const words = useWords();
  const asks = openAsks(useSlices("asked")).length;
  if (VIEWS.length === 0) return null;
  return (
    <nav className="phone-nav" aria-label={words.views.label}>
      <Link href={`/s/${id}`} aria-current={view === undefined ? "page" : undefined}>
        <Icon name="chat" />
        {words.views.chat}
        {asks > 0 && <span className="pip">{asks}</span>}
      </Link>
      {VIEWS.map(({ name, icon }) => (
        <Link key={name} href={`/s/${id}/${name}`} aria-current={view?.name === name ? "page" : undefined}>
          <Icon name={icon} />
          {words.views[name]}
        </Link>
      ))}
    </nav>
  );
}
