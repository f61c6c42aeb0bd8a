//! The edge of a view: what breaks inside it breaks nothing else.

import { Component, type ReactNode } from "react";
import { useWords } from "../words";

type Given = { name: string; children: ReactNode };

export class Edge extends Component<Given, { error: Error | undefined }> {
  override state: { error: Error | undefined } = { error: undefined };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override componentDidUpdate({ name }: Given) {
    // Another view is drawn.
    if (name !== this.props.name && this.state.error !== undefined) this.setState({ error: undefined });
  }

  override render() {
    const { error } = this.state;
    return error === undefined ? (
      this.props.children
    ) : (
      <Broken error={error} onAgain={() => this.setState({ error: undefined })} />
    );
  }
}

function Broken({ error, onAgain }: { error: Error; onAgain: () => void }) {
  const words = useWords();
  return (
    <div className="page" role="alert">
      <h1>{words.broke.title}</h1>
      <p className="mid">{words.broke.what}</p>
      <pre className="out well">{error.message}</pre>
      <p className="acts">
        <button type="button" className="btn solid" onClick={onAgain}>
          {words.broke.again}
        </button>
        <button type="button" className="btn" onClick={() => location.reload()}>
          {words.broke.reload}
        </button>
      </p>
    </div>
  );
}
