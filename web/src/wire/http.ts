//! Requests to the server: with the token of this browser's tabs, and with what went wrong in words.

const TAB = "neco.tab";

/** Why the server did not do something: RFC 9457, with the kind of trouble for programs. */
export class Problem extends Error {
  readonly status: number;
  readonly hint: string | undefined;

  constructor(status: number, detail: string, hint?: string) {
    super(detail);
    this.status = status;
    this.hint = hint;
  }

  /** Whether nothing reached the server, so that it may be tried again. */
  get isOffline(): boolean {
    return this.status === 0;
  }
}

export const unreachable = () => new Problem(0, "the server can't be reached");

/** The token that only pages of this server have; the cookie beside it is sent by itself. */
export function tabToken(): string | null {
  return localStorage.getItem(TAB);
}

/** Signs this browser in with the code of a link, which is taken out of the address at once. */
export async function signIn(): Promise<void> {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code === null) return;
  history.replaceState(null, "", location.pathname + location.search);
  const told = await request<{ tab: string }>("POST", "/auth/exchange", { code });
  localStorage.setItem(TAB, told.tab);
}

/** Signs this browser out. */
export async function signOut(): Promise<void> {
  await request("POST", "/auth/logout");
  localStorage.removeItem(TAB);
}

type Verb = "GET" | "POST" | "PUT" | "DELETE";

export async function request<T>(verb: Verb, path: string, body?: unknown, key?: string): Promise<T> {
  const headers = new Headers();
  const tab = tabToken();
  if (tab !== null) headers.set("x-neco-tab", tab);
  if (body !== undefined) headers.set("content-type", "application/json");
  if (key !== undefined) headers.set("idempotency-key", key);
  let answer: Response;
  try {
    answer = await fetch(`/api/v1${path}`, {
      method: verb,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    });
  } catch {
    throw unreachable();
  }
  const text = await answer.text();
  const told = parsed(text);
  if (answer.ok) return told as T;
  const problem = (told ?? {}) as { detail?: string; title?: string; hint?: string };
  throw new Problem(answer.status, problem.detail ?? problem.title ?? answer.statusText, problem.hint);
}

/** The same for what is only looked at; arguments go into the address. */
export function get<T>(path: string, query: Record<string, string | number | boolean | undefined> = {}): Promise<T> {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  return request("GET", search.size > 0 ? `${path}?${search}` : path);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A key under which something is done once, however often it is asked. */
export function onceKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
