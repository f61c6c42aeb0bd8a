//! The parts of a text that have a colour: where each begins, where it ends, and what it is.

import { StringStream } from "@codemirror/streamparser";
import { highlightTree, tagHighlighter, tags } from "@lezer/highlight";
import { type Reader, readerOf } from "./languages";

/** What a part can be, by the names that the sheets use. A part has the number of its place here. */
export const KINDS = ["k", "f", "t", "st", "n_", "c"] as const;

type Kind = (typeof KINDS)[number];

/** Three numbers a part, in order: its first code unit, the one after its last, its kind. */
export type Parts = Uint32Array<ArrayBuffer>;

/** A line that is longer is read to here: what goes by lines may take long for one. */
const LONGEST_LINE = 4_000;

const { function: called, definition } = tags;

const TAGS = [
  { tag: [tags.keyword, tags.self, tags.null, tags.operatorKeyword, tags.modifier, tags.heading], class: "k" },
  {
    tag: [
      called(tags.variableName),
      called(tags.propertyName),
      called(definition(tags.variableName)),
      called(definition(tags.propertyName)),
      tags.macroName,
      tags.attributeName,
      tags.labelName,
    ],
    class: "f",
  },
  { tag: [tags.typeName, tags.className, tags.namespace, tags.tagName, tags.annotation], class: "t" },
  {
    tag: [tags.string, tags.character, tags.attributeValue, tags.regexp, tags.escape, tags.url, tags.monospace],
    class: "st",
  },
  { tag: [tags.number, tags.bool, tags.atom, tags.unit, tags.color], class: "n_" },
  { tag: [tags.comment, tags.meta, tags.processingInstruction, tags.quote], class: "c" },
];

const PROGRAM = tagHighlighter(TAGS);
const DATA = tagHighlighter([...TAGS, { tag: [tags.propertyName, definition(tags.propertyName)], class: "f" }]);

/** What modes that go by lines call a part. */
const STYLES: Record<string, Kind> = {
  keyword: "k",
  controlKeyword: "k",
  modifier: "k",
  self: "k",
  header: "k",
  heading: "k",
  inserted: "st",
  builtin: "f",
  macroName: "f",
  property: "f",
  propertyName: "f",
  attribute: "f",
  "variableName.function": "f",
  "variableName.standard": "f",
  type: "t",
  typeName: "t",
  className: "t",
  tag: "t",
  tagName: "t",
  string: "st",
  character: "st",
  link: "st",
  number: "n_",
  integer: "n_",
  atom: "n_",
  bool: "n_",
  unit: "n_",
  deleted: "n_",
  comment: "c",
  meta: "c",
  quote: "c",
  processingInstruction: "c",
};

/** The parts of a text in a language, or of the file of a path; none where the language is not known. */
export async function partsOf(text: string, language: string): Promise<Parts> {
  const reader = await readerOf(language);
  const parts: number[] = [];
  if (reader !== undefined) read(text, reader, (from, to, kind) => parts.push(from, to, KINDS.indexOf(kind)));
  return Uint32Array.from(parts);
}

type Put = (from: number, to: number, kind: Kind) => void;

function read(text: string, reader: Reader, put: Put): void {
  if (reader.kind === "lines") return readLines(text, reader.mode, put);
  const tree = reader.parser.parse(text);
  highlightTree(tree, reader.namesProperties ? DATA : PROGRAM, (from, to, names) => {
    const kind = KINDS.find((kind) => names.split(" ").at(-1) === kind);
    if (kind !== undefined) put(from, to, kind);
  });
}

function readLines(text: string, mode: Extract<Reader, { kind: "lines" }>["mode"], put: Put): void {
  const state = mode.startState?.(2) ?? {};
  let begin = 0;
  for (const line of text.split("\n")) {
    if (line === "") mode.blankLine?.(state, 2);
    else readLine(line.slice(0, LONGEST_LINE), begin, mode, state, put);
    begin += line.length + 1;
  }
}

/** Tries that give nothing, after which the next letter is passed over. */
const STUCK = 8;

function readLine(
  line: string,
  begin: number,
  mode: Extract<Reader, { kind: "lines" }>["mode"],
  state: unknown,
  put: Put,
): void {
  const stream = new StringStream(line, 4, 2);
  let stuck = 0;
  while (!stream.eol()) {
    stream.start = stream.pos;
    const style = mode.token(stream, state);
    if (stream.pos === stream.start) {
      stuck += 1;
      if (stuck > STUCK) stream.next();
      continue;
    }
    stuck = 0;
    const kind = style === null ? undefined : (STYLES[style] ?? STYLES[style.split(/[ .]/, 1)[0] ?? ""]);
    if (kind !== undefined) put(begin + stream.start, begin + stream.pos, kind);
  }
}
