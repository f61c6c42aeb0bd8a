// The official client library as the editor of a person: what comes on a connection is done by the library, and what the
// library hears is said there, in messages of the protocol. The first line of a connection names the socket of the agent.
import { connect, createServer } from "node:net";
import { createInterface } from "node:readline";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [library, address] = process.argv.slice(2);
const { client, methods, ndJsonStream } = await import(pathToFileURL(library));

async function editor(socket) {
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  const agent = connect((await lines.next()).value);
  const say = (message) => socket.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  // Whatever came before an answer is heard before it.
  const answer = (message) => setImmediate(() => say(message));
  const asked = new Map();
  const ask = (method) => ({ params, signal }) => {
    return new Promise((resolve, reject) => {
      const id = `asked-${asked.size + 1}`;
      asked.set(id, resolve);
      signal.addEventListener("abort", () => reject(signal.reason));
      say({ id, method, params });
    });
  };
  const { session, elicitation } = methods.client;
  const app = client({ name: "person" })
    .onNotification(session.update, ({ params }) => void say({ method: session.update, params }))
    .onRequest(session.requestPermission, ask(session.requestPermission))
    .onRequest(elicitation.create, ask(elicitation.create));
  await app.connectWith(ndJsonStream(Writable.toWeb(agent), Readable.toWeb(agent)), async (context) => {
    for await (const line of lines) {
      const { id, method, params, result } = JSON.parse(line);
      if (method === undefined) {
        asked.get(id)(result);
      } else if (id === undefined) {
        await context.notify(method, params);
      } else {
        const failed = ({ code, message, data }) => answer({ id, error: { code: code ?? -32603, message, data } });
        context.request(method, params).then((result) => answer({ id, result }), failed);
      }
    }
  });
  agent.end();
  socket.end();
}

createServer({ allowHalfOpen: true }, editor).listen(address, () => console.log("listening"));
// Whoever started it is gone.
process.stdin.on("end", () => process.exit()).resume();
