//! What is asked of the program itself: settings, models, keys, rules, and what is plugged in. A folder says whose
//! settings count.

import type {
  AgentList,
  CheckedSettings,
  ExplainedCall,
  FolderTrust,
  HookList,
  Json,
  KeptKey,
  KeptRules,
  KeyList,
  MemoryList,
  ModelList,
  ModelOffers,
  PluginList,
  RuleList,
  ServedModels,
  ServerList,
  ServerLog,
  SessionPage,
  SessionRow,
  SettingFiles,
  SettingList,
  SettingsPreview,
  ShownAgent,
  ShownMemory,
  ShownModel,
  ShownPlugin,
  ShownSandbox,
  ShownServer,
  ShownSkill,
  SkillList,
  TestedModel,
  TestedModels,
  TestedServer,
  TrustList,
  UsageReport,
  WrittenServer,
  WrittenSettings,
} from "../proto";
import { get, onceKey, request } from "./http";

/** A name as a part of an address. */
const part = encodeURIComponent;

export type NewSetting = { key: string; value: Json };

export const settings = {
  list: (folder: string) => get<SettingList>("/settings", { folder }),
  files: (folder: string) => get<SettingFiles>("/settings/files", { folder }),
  /** Reads settings as people write them, each as `key=value`, and writes nothing. */
  check: (folder: string, written: readonly string[]) =>
    get<CheckedSettings>("/settings/check", { folder, written: JSON.stringify(written) }),
  /** What would be written, as a change of the file. */
  preview: (folder: string, settings: readonly NewSetting[]) =>
    request<SettingsPreview>("POST", "/settings/preview", { folder, settings }),
  /** Writes to the person's own file; null takes a setting out of it. */
  set: (folder: string, settings: readonly NewSetting[]) =>
    request<WrittenSettings>("PUT", "/settings", { folder, settings }),
};

export const models = {
  list: (folder: string, all = false) => get<ModelList>("/models", { folder, all }),
  show: (folder: string, name: string) => get<ShownModel>(`/models/${part(name)}`, { folder }),
  test: (folder: string, name: string, base?: string) =>
    request<TestedModel>("POST", `/models/${part(name)}/test`, { folder, ...(base && { base }) }, onceKey()),
  testAll: (folder: string, name: string) => request<TestedModels>("POST", "/models/test", { folder, name }, onceKey()),
  offers: (folder: string) => get<ModelOffers>("/models/offers", { folder }),
  served: (folder: string, provider: string, base?: string) =>
    request<ServedModels>("POST", "/models/served", { folder, provider, ...(base && { base }) }),
};

export const keys = {
  list: (folder: string) => get<KeyList>("/keys", { folder }),
  /** Keeps a key once the provider took it; a key that it refuses is not kept. */
  set: (folder: string, provider: string, key: string, replace: boolean) =>
    request<KeptKey>("PUT", `/keys/${part(provider)}`, { folder, key, replace, check: true }),
  /** Forgets one key, by its number from 1, or all of a provider. */
  remove: (folder: string, provider: string, number?: number) =>
    request(
      "DELETE",
      `/keys/${part(provider)}`,
      { folder, ...(number !== undefined && { number: String(number) }) },
      onceKey(),
    ),
};

export const rules = {
  list: (folder: string) => get<RuleList>("/rules", { folder }),
  kept: () => get<KeptRules>("/rules/kept"),
  add: (folder: string, rule: string) => request<KeptRules>("POST", "/rules/kept", { folder, rule }),
  remove: (rule: string) => request<KeptRules>("DELETE", "/rules/kept", { rules: [rule] }),
  explain: (folder: string, tool: string, args: string) =>
    get<ExplainedCall>("/rules/explain", { folder, tool, arguments: args }),
};

export const sandbox = (folder: string) => get<ShownSandbox>("/doctor/sandbox", { folder });

export const agents = {
  list: (folder: string) => get<AgentList>("/agents", { folder }),
  show: (folder: string, name: string) => get<ShownAgent>(`/agents/${part(name)}`, { folder }),
};

export type ServerScope = "user" | "project";

export const servers = {
  list: (folder: string) => get<ServerList>("/mcp", { folder }),
  get: (folder: string, name: string) => get<ShownServer>(`/mcp/${part(name)}`, { folder }),
  add: (folder: string, name: string, scope: ServerScope, server: Json) =>
    request<WrittenServer>("POST", "/mcp", { folder, name, scope, server }, onceKey()),
  remove: (folder: string, name: string) =>
    request<WrittenServer>("DELETE", `/mcp/${part(name)}`, { folder }, onceKey()),
  enable: (folder: string, name: string, enabled: boolean) =>
    request<WrittenServer>("PUT", `/mcp/${part(name)}/enabled`, { folder, enabled }),
  restart: (folder: string, name: string) => request("POST", `/mcp/${part(name)}/restart`, { folder }),
  test: (folder: string, name: string) =>
    request<TestedServer>("POST", `/mcp/${part(name)}/test`, { folder }, onceKey()),
  log: (folder: string, name: string) => get<ServerLog>(`/mcp/${part(name)}/log`, { folder, lines: 200 }),
};

export const hooks = (folder: string) => get<HookList>("/hooks", { folder });

export const skills = {
  list: (folder: string) => get<SkillList>("/skills", { folder }),
  show: (folder: string, name: string) => get<ShownSkill>(`/skills/${part(name)}`, { folder }),
  enable: (folder: string, name: string, enabled: boolean) =>
    request("POST", `/skills/${part(name)}/switch`, { folder, enabled }),
};

export const plugins = {
  list: (folder: string) => get<PluginList>("/plugins", { folder }),
  show: (folder: string, name: string) => get<ShownPlugin>(`/plugins/${part(name)}`, { folder }),
  enable: (folder: string, name: string, enabled: boolean) =>
    request("POST", `/plugins/${part(name)}/switch`, { folder, enabled }, onceKey()),
  remove: (name: string) => request("DELETE", `/plugins/${part(name)}`, {}, onceKey()),
};

export const memory = {
  list: (folder: string, words: string) =>
    get<MemoryList>("/memory", {
      folder,
      limit: 100,
      ...(words !== "" && { words: JSON.stringify({ text: words, limit: 50 }) }),
    }),
  show: (folder: string, id: string) => get<ShownMemory>(`/memory/${part(id)}`, { folder }),
  note: (folder: string, text: string) => request("POST", "/memory/notes", { folder, text }),
  remove: (folder: string, id: string) => request("DELETE", "/memory", { folder, ids: [id] }, onceKey()),
};

export const trust = {
  list: () => get<TrustList>("/trust"),
  show: (folder: string) => get<FolderTrust>("/trust/folder", { folder }),
  /** Decides about exactly what was seen. */
  decide: (folder: string, seen: string, trusted: boolean) =>
    request<FolderTrust>("PUT", "/trust/folder", { folder, seen, trusted }),
  forget: (folder: string) => request("DELETE", "/trust/folder", { folder }),
};

/** Sessions of a page of the list. */
const A_PAGE = 200;

/** What was used in so many days up to today, by day, model and agent. */
export async function usage(days: number): Promise<UsageReport> {
  // What takes too long is left out, and asking again goes on with it.
  for (let tries = 0; ; tries++) {
    const report = await get<UsageReport>("/usage", { days });
    if (report.cut !== true || tries === A_FEW) return report;
  }
}

/** How often it is asked again for what was left out. */
const A_FEW = 5;

/** All sessions that were used since, with what each used. */
export async function usedSessions(since: Date): Promise<SessionRow[]> {
  const all: SessionRow[] = [];
  let cursor: string | undefined;
  do {
    const asked = { limit: A_PAGE, states: true, since: since.toISOString(), cursor };
    const page = await get<SessionPage>("/sessions", asked);
    all.push(...page.sessions);
    cursor = page.next;
  } while (cursor !== undefined);
  return all;
}
