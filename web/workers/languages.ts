//! Which language a name means, and what reads it: a parser of its own where there is one, else a mode that goes line by
//! line. Each is loaded when a text first wants it.

import type { StreamParser } from "@codemirror/streamparser";
import { type Parser, parseMixed } from "@lezer/common";

/** What reads a language. Names of properties stand out where they are what a text is made of. */
export type Reader =
  | { kind: "parser"; parser: Parser; namesProperties: boolean }
  | { kind: "lines"; mode: StreamParser<unknown> };

type Load = () => Promise<Reader>;

const parsed =
  (load: () => Promise<Parser>, namesProperties = false): Load =>
  async () => ({ kind: "parser", parser: await load(), namesProperties });

const lines =
  (load: () => Promise<unknown>): Load =>
  async () => ({ kind: "lines", mode: (await load()) as StreamParser<unknown> });

const javascript = (dialect: string) =>
  parsed(() => import("@lezer/javascript").then(({ parser }) => parser.configure({ dialect })));

const clike = (name: "csharp" | "dart" | "kotlin" | "objectiveC" | "scala") =>
  lines(() => import("@codemirror/legacy-modes/mode/clike").then((modes) => modes[name]));

const css = () => import("@lezer/css").then(({ parser }) => parser);

const html = async (): Promise<Parser> => {
  const [{ parser, configureNesting }, { parser: script }, style] = await Promise.all([
    import("@lezer/html"),
    import("@lezer/javascript"),
    css(),
  ]);
  const nested = [
    { tag: "script", parser: script.configure({ dialect: "jsx ts" }) },
    { tag: "style", parser: style },
  ];
  return parser.configure({ wrap: configureNesting(nested) });
};

const php = async (): Promise<Parser> => {
  const [{ parser }, around] = await Promise.all([import("@lezer/php"), html()]);
  return parser.configure({
    wrap: parseMixed((node) =>
      node.type.isTop ? { parser: around, overlay: ({ type }) => type.name === "Text" } : null,
    ),
  });
};

/** Languages by what they are called behind a fence, by how names of files end, and by whole names of files. */
const LANGUAGES: readonly [names: string, load: Load][] = [
  ["rs rust", parsed(() => import("@lezer/rust").then(({ parser }) => parser))],
  ["js mjs cjs jsx javascript node", javascript("jsx")],
  ["ts mts cts typescript", javascript("ts")],
  ["tsx", javascript("jsx ts")],
  ["py pyi python python3 starlark bzl", parsed(() => import("@lezer/python").then(({ parser }) => parser))],
  ["css scss less", parsed(css, true)],
  ["html htm xhtml vue svelte", parsed(html)],
  [
    "json jsonc json5 jsonl geojson ipynb webmanifest",
    parsed(() => import("@lezer/json").then(({ parser }) => parser), true),
  ],
  ["md markdown mdx", parsed(() => import("@lezer/markdown").then(({ parser, GFM }) => parser.configure([GFM])))],
  ["c h cc cpp cxx hpp hh hxx c++ ino cu", parsed(() => import("@lezer/cpp").then(({ parser }) => parser))],
  ["java", parsed(() => import("@lezer/java").then(({ parser }) => parser))],
  ["go golang", parsed(() => import("@lezer/go").then(({ parser }) => parser))],
  ["yaml yml", parsed(() => import("@lezer/yaml").then(({ parser }) => parser), true)],
  ["php", parsed(php)],
  ["xml svg xsl xslt plist xaml csproj", parsed(() => import("@lezer/xml").then(({ parser }) => parser))],
  [
    "sh bash zsh ksh shell console bashrc zshrc profile",
    lines(() => import("@codemirror/legacy-modes/mode/shell").then(({ shell }) => shell)),
  ],
  ["toml cargo.lock", lines(() => import("@codemirror/legacy-modes/mode/toml").then(({ toml }) => toml))],
  [
    "rb ruby gemfile rakefile gemspec",
    lines(() => import("@codemirror/legacy-modes/mode/ruby").then(({ ruby }) => ruby)),
  ],
  ["lua", lines(() => import("@codemirror/legacy-modes/mode/lua").then(({ lua }) => lua))],
  ["swift", lines(() => import("@codemirror/legacy-modes/mode/swift").then(({ swift }) => swift))],
  ["pl pm perl", lines(() => import("@codemirror/legacy-modes/mode/perl").then(({ perl }) => perl))],
  [
    "ps1 psm1 powershell pwsh",
    lines(() => import("@codemirror/legacy-modes/mode/powershell").then(({ powerShell }) => powerShell)),
  ],
  [
    "dockerfile containerfile docker",
    lines(() => import("@codemirror/legacy-modes/mode/dockerfile").then(({ dockerFile }) => dockerFile)),
  ],
  ["sql", lines(() => import("@codemirror/legacy-modes/mode/sql").then(({ standardSQL }) => standardSQL))],
  ["pgsql postgresql", lines(() => import("@codemirror/legacy-modes/mode/sql").then(({ pgSQL }) => pgSQL))],
  ["diff patch", lines(() => import("@codemirror/legacy-modes/mode/diff").then(({ diff }) => diff))],
  [
    "ini properties conf cfg env editorconfig gitconfig service desktop",
    lines(() => import("@codemirror/legacy-modes/mode/properties").then(({ properties }) => properties)),
  ],
  ["kt kts kotlin", clike("kotlin")],
  ["cs csharp c#", clike("csharp")],
  ["scala sc", clike("scala")],
  ["dart", clike("dart")],
  ["m mm objc objectivec objective-c", clike("objectiveC")],
  ["hs haskell", lines(() => import("@codemirror/legacy-modes/mode/haskell").then(({ haskell }) => haskell))],
  ["r", lines(() => import("@codemirror/legacy-modes/mode/r").then(({ r }) => r))],
  ["jl julia", lines(() => import("@codemirror/legacy-modes/mode/julia").then(({ julia }) => julia))],
  ["nginx", lines(() => import("@codemirror/legacy-modes/mode/nginx").then(({ nginx }) => nginx))],
  ["cmake cmakelists.txt", lines(() => import("@codemirror/legacy-modes/mode/cmake").then(({ cmake }) => cmake))],
  ["proto protobuf", lines(() => import("@codemirror/legacy-modes/mode/protobuf").then(({ protobuf }) => protobuf))],
  [
    "clj cljs cljc edn clojure",
    lines(() => import("@codemirror/legacy-modes/mode/clojure").then(({ clojure }) => clojure)),
  ],
  ["erl hrl erlang", lines(() => import("@codemirror/legacy-modes/mode/erlang").then(({ erlang }) => erlang))],
  ["groovy gradle", lines(() => import("@codemirror/legacy-modes/mode/groovy").then(({ groovy }) => groovy))],
];

const BY_NAME = new Map(LANGUAGES.flatMap(([names, load]) => names.split(" ").map((name) => [name, load] as const)));

const loaded = new Map<Load, Promise<Reader>>();

/** What reads a text of this language, or the file of this path; nothing where nobody here knows it. */
export function readerOf(name: string): Promise<Reader> | undefined {
  const last = (name.toLowerCase().split("/").at(-1) ?? "").trim();
  const load = BY_NAME.get(last) ?? BY_NAME.get(last.slice(last.lastIndexOf(".") + 1));
  if (load === undefined) return undefined;
  const known = loaded.get(load) ?? load();
  loaded.set(load, known);
  return known;
}
