// An editor on the official client library. It plays two prompts, stops the second one, loads the session in another
// connection, and prints what it saw as JSON.
import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [library, neco, folder] = process.argv.slice(2);
const { client, methods, ndJsonStream } = await import(pathToFileURL(library));
const typed = new Map([[join(folder, "a.txt"), "typed\n"]]);
const terminals = new Map();
const seen = { updates: [], asked: [], printed: [], released: 0 };
let begun = () => {};

/// What the editor does when it is asked.
function editor() {
  return client({ name: "test" })
    .onNotification(methods.client.session.update, ({ params }) => {
      seen.updates.push(params.update);
      if (JSON.stringify(params.update).includes("has begun")) begun();
    })
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      const option = params.options.find((option) => option.kind === "allow_once");
      seen.asked.push({ title: params.toolCall.title, options: params.options.map((option) => option.kind) });
      return { outcome: { outcome: "selected", optionId: option.optionId } };
    })
    .onRequest(methods.client.fs.readTextFile, async ({ params }) => {
      return { content: typed.get(params.path) ?? (await readFile(params.path, "utf8")) };
    })
    .onRequest(methods.client.fs.writeTextFile, async ({ params }) => {
      typed.delete(params.path);
      await writeFile(params.path, params.content);
      return {};
    })
    .onRequest(methods.client.terminal.create, async ({ params }) => {
      // The first command runs until it has a terminal.
      await writeFile(join(folder, "go"), "");
      const variables = (params.env ?? []).map(({ name, value }) => [name, value]);
      const env = { ...process.env, ...Object.fromEntries(variables) };
      const child = spawn(params.command, params.args, { cwd: params.cwd, env, stdio: ["ignore", "pipe", "inherit"] });
      const terminal = { child, output: "" };
      child.stdout.on("data", (data) => {
        terminal.output += data;
        if (terminal.output.includes("has begun")) begun();
      });
      terminal.exited = new Promise((resolve) => {
        child.on("close", (exitCode, signal) => resolve({ exitCode, signal }));
      });
      const terminalId = `terminal-${terminals.size + 1}`;
      terminals.set(terminalId, terminal);
      return { terminalId };
    })
    .onRequest(methods.client.terminal.waitForExit, ({ params }) => terminals.get(params.terminalId).exited)
    .onRequest(methods.client.terminal.release, ({ params }) => {
      const { child, output } = terminals.get(params.terminalId);
      child.kill();
      seen.printed.push(output);
      seen.released += 1;
      return {};
    });
}

/// Starts the agent, does something with it and ends it; how it ended.
async function connected(work) {
  const agent = spawn(neco, ["acp"], { cwd: folder, stdio: ["pipe", "pipe", "inherit"] });
  const exited = new Promise((resolve) => agent.on("close", resolve));
  const stream = ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
  await editor().connectWith(stream, async (context) => {
    const clientCapabilities = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };
    const answer = await context.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities });
    seen.agent = answer.agentInfo.name;
    await work(context);
  });
  agent.stdin.end();
  return await exited;
}

const text = (words) => [{ type: "text", text: words }];

seen.exits = [
  await connected(async (context) => {
    const { sessionId } = await context.request(methods.agent.session.new, { cwd: folder, mcpServers: [] });
    seen.session = sessionId;
    const first = await context.request(methods.agent.session.prompt, { sessionId, prompt: text("edit and run") });
    const running = new Promise((resolve) => (begun = resolve));
    const second = context.request(methods.agent.session.prompt, { sessionId, prompt: text("wait") });
    await running;
    const stopped = Date.now();
    await context.notify(methods.agent.session.cancel, { sessionId });
    seen.stops = [first.stopReason, (await second).stopReason];
    seen.stoppedAfter = Date.now() - stopped;
  }),
  await connected(async (context) => {
    seen.updates.length = 0;
    await context.request(methods.agent.session.load, { sessionId: seen.session, cwd: folder, mcpServers: [] });
    const chunks = seen.updates.filter((update) => update.sessionUpdate === "user_message_chunk");
    seen.heard = chunks.map((update) => update.content.text);
    const page = await context.request(methods.agent.session.list, { cwd: folder });
    seen.listed = page.sessions.map((session) => session.sessionId);
  }),
];
delete seen.updates;
console.log(JSON.stringify(seen));
