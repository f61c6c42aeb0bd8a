//! What somebody sees who is not signed in: how to be.

import { CopyButton, Mark } from "../parts";
import { useWords } from "../words";

export function Login({ trouble }: { trouble: string | undefined }) {
  const words = useWords();
  return (
    <main className="page login">
      <Mark />
      <h1>{trouble === undefined ? words.login.title : words.login.failed}</h1>
      {trouble !== undefined && <p className="del">{trouble}</p>}
      <p className="mid">{words.login.how}</p>
      <Line text="neco web" />
      <p className="mid">{words.login.or}</p>
      <Line text="neco web --no-open" />
    </main>
  );
}

function Line({ text }: { text: string }) {
  return (
    <p className="well line">
      <code className="out">
        <span className="dim">$ </span>
        {text}
      </code>
      <CopyButton text={text} />
    </p>
  );
}
