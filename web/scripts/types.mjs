//! The types of the API in TypeScript, from the OpenAPI description that the program gives of itself.

/** The types that the page names; all that they are made of comes with them. */
const ROOTS = [
  "AgentList",
  "Answer",
  "AuditPage",
  "Branch",
  "CancelledWorkflow",
  "CheckedSettings",
  "Command",
  "Event",
  "ExplainedCall",
  "FileChanges",
  "FileList",
  "FolderTrust",
  "FoundPlaces",
  "HookList",
  "KeepChanges",
  "KeptChanges",
  "KeptKey",
  "KeptRules",
  "KeyList",
  "ListChanges",
  "MemoryList",
  "ModelList",
  "ModelOffers",
  "NewToken",
  "Opened",
  "OpenSession",
  "PluginList",
  "PreviewSettings",
  "Query",
  "ReadText",
  "RecentFolders",
  "RewindPoints",
  "RuleList",
  "ServedModels",
  "ServerList",
  "ServerLog",
  "SessionChanges",
  "SessionPage",
  "SessionSnapshot",
  "SettingFiles",
  "SettingList",
  "SettingsPreview",
  "ShowChange",
  "ShownAgent",
  "ShownMemory",
  "ShownModel",
  "ShownPlugin",
  "ShownRun",
  "ShownSandbox",
  "ShownServer",
  "ShownSkill",
  "ShownWorkflow",
  "ShellEnd",
  "ShowUsage",
  "SkillList",
  "TestedModel",
  "TestedModels",
  "TestedServer",
  "TextPiece",
  "TokenList",
  "ToolList",
  "TrustList",
  "UsageReport",
  "WorkflowList",
  "WrittenServer",
  "WrittenSettings",
];

const HEAD =
  "//! The types of the API: written by `npm run types` from what the program says of itself, do not edit.\n";

/** The text of a file with the types of a description. */
export function typesOf({ components: { schemas } }) {
  const named = new Map();
  const take = (name) => {
    if (named.has(name)) return;
    const schema = schemas[name];
    if (schema === undefined) throw new Error(`the program describes no ${name}`);
    named.set(name, schema);
    for (const [, other] of JSON.stringify(schema).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) take(other);
  };
  ROOTS.forEach(take);
  const names = [...named.keys()].sort();
  const types = names.map(
    (name) => `${doc(named.get(name), "")}export type ${name} = ${typeOf(named.get(name), "")};\n`,
  );
  return `${HEAD}\n/** Any JSON. */\nexport type Json = unknown;\n\n${types.join("\n")}`;
}

function doc({ description }, indent) {
  if (description === undefined) return "";
  return `/** ${description.replaceAll("*/", "* /").split(/\s+/).join(" ")} */\n${indent}`;
}

/** A schema as a type: all that it says holds at once. */
function typeOf(schema, indent) {
  if (typeof schema !== "object") return "Json";
  const parts = [];
  if (schema.$ref !== undefined) parts.push(schema.$ref.split("/").at(-1));
  for (const either of [schema.oneOf, schema.anyOf]) if (either !== undefined) parts.push(union(either, indent));
  for (const each of schema.allOf ?? []) parts.push(typeOf(each, indent));
  if (schema.const !== undefined) parts.push(JSON.stringify(schema.const));
  else if (schema.enum !== undefined) parts.push(`(${schema.enum.map((value) => JSON.stringify(value)).join(" | ")})`);
  else if (schema.properties !== undefined) parts.push(objectOf(schema, indent));
  else if (!(schema.type === "object" && parts.length > 0)) parts.push(...plain(schema, indent));
  return parts.length === 0 ? "Json" : [...new Set(parts)].join(" & ");
}

const union = (either, indent) => `(${[...new Set(either.map((each) => typeOf(each, indent)))].join(" | ")})`;

function plain(schema, indent) {
  if (schema.type === undefined) return [];
  if (!Array.isArray(schema.type)) return [kindOf(schema, schema.type, indent)];
  return [`(${schema.type.map((kind) => kindOf(schema, kind, indent)).join(" | ")})`];
}

function kindOf({ prefixItems, items, additionalProperties }, kind, indent) {
  switch (kind) {
    case "integer":
    case "number":
      return "number";
    case "array":
      if (prefixItems !== undefined) return `[${prefixItems.map((each) => typeOf(each, indent)).join(", ")}]`;
      return `Array<${typeOf(items ?? true, indent)}>`;
    case "object":
      return `Record<string, ${typeOf(additionalProperties ?? true, indent)}>`;
    default:
      return kind;
  }
}

function objectOf({ properties, required = [] }, indent) {
  const inner = `${indent}  `;
  const fields = Object.entries(properties).map(([name, field]) => {
    const isThere = required.includes(name);
    // What may be absent is absent rather than null.
    const type = isThere ? typeOf(field, inner) : typeOf(withoutNull(field), inner);
    const key = /^\w+$/.test(name) ? name : JSON.stringify(name);
    return `${inner}${doc(field, inner)}${key}${isThere ? "" : "?"}: ${type};\n`;
  });
  return `{\n${fields.join("")}${indent}}`;
}

function withoutNull(schema) {
  const isNull = ({ type }) => type === "null";
  if (Array.isArray(schema.type)) {
    const [kind, ...more] = schema.type.filter((each) => each !== "null");
    return { ...schema, type: more.length === 0 ? kind : [kind, ...more] };
  }
  if (schema.anyOf?.some(isNull)) {
    const [only, ...more] = schema.anyOf.filter((each) => !isNull(each));
    return more.length === 0 ? only : { ...schema, anyOf: [only, ...more] };
  }
  return schema;
}
