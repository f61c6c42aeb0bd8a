//! The workers of the page: asked, and never waited for.

import graph from "../../workers/graph?worker&url";
import highlight from "../../workers/highlight?worker&url";

const ADDRESSES = { graph, highlight };

type Name = keyof typeof ADDRESSES;

type Policy = { createScriptURL: (given: string) => string };

let policy: Policy | undefined;

/** The addresses that workers may be made from are ours alone, where the browser asks for a policy. */
function allowed(address: string): string {
  const { trustedTypes } = window as unknown as {
    trustedTypes?: { createPolicy: (name: string, rules: Policy) => Policy };
  };
  const createScriptURL = (given: string) => {
    if (!Object.values(ADDRESSES).includes(given)) throw new TypeError("that is no worker of ours");
    return given;
  };
  policy ??= trustedTypes?.createPolicy("neco", { createScriptURL });
  return policy?.createScriptURL(address) ?? address;
}

/** What a worker is asked and tells, each with the number of the question. */
type Numbered<T> = T & { id: number };

/** A worker that is started with the first question. */
export class Asker<Question, Answer> {
  readonly #name: Name;
  /** Null where no worker can be had. */
  #worker: Worker | null | undefined;
  readonly #heard = new Map<number, (answer: Answer | undefined) => void>();
  #next = 1;

  constructor(name: Name) {
    this.#name = name;
  }

  /** Hears the answer when it is there, or nothing where nobody can answer. */
  ask(question: Question, heard: (answer: Answer | undefined) => void): void {
    if (this.#worker === undefined) this.#worker = this.#started();
    if (this.#worker === null) return heard(undefined);
    const id = this.#next++;
    this.#heard.set(id, heard);
    this.#worker.postMessage({ ...question, id });
  }

  #started(): Worker | null {
    try {
      const made = new Worker(allowed(ADDRESSES[this.#name]), { type: "module" });
      made.onmessage = ({ data }: MessageEvent<Numbered<Answer>>) => {
        this.#heard.get(data.id)?.(data);
        this.#heard.delete(data.id);
      };
      made.onerror = () => this.#fail();
      return made;
    } catch {
      return null;
    }
  }

  #fail(): void {
    this.#worker = null;
    const waiting = [...this.#heard.values()];
    this.#heard.clear();
    for (const heard of waiting) heard(undefined);
  }
}
