//! A provider of models on this machine: it wants a key, says which models it has, and answers as OpenAI's API does.

import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export class Vendor {
  /** The models that were asked something, one after the other. */
  readonly asked: string[] = [];
  readonly #key: string;
  readonly #server: Server;

  private constructor(key: string) {
    this.#key = key;
    this.#server = createServer((request, response) => {
      const json = (status: number, body: unknown) => {
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
      };
      if (request.headers.authorization !== `Bearer ${this.#key}`) {
        return json(401, { error: { message: "no such key", type: "authentication_error" } });
      }
      if (request.url === "/v1/models") {
        return json(200, { object: "list", data: ["small-one", "big-one"].map((id) => ({ id, object: "model" })) });
      }
      if (request.url !== "/v1/chat/completions") return json(404, { error: { message: "nothing is there" } });
      void this.#answer(request).then((text) => {
        response.writeHead(200, { "content-type": "text/event-stream" }).end(text);
      });
    });
  }

  static async listening(key: string): Promise<Vendor> {
    const vendor = new Vendor(key);
    await new Promise<void>((resolve) => vendor.#server.listen(0, "127.0.0.1", resolve));
    return vendor;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async #answer(request: IncomingMessage): Promise<string> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const { model } = JSON.parse(Buffer.concat(pieces).toString()) as { model: string };
    this.asked.push(model);
    const chunk = (delta: object, finish_reason: string | null) =>
      `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    const usage = `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model, choices: [], usage: { prompt_tokens: 1200, completion_tokens: 30, total_tokens: 1230 } })}\n\n`;
    return `${chunk({ role: "assistant", content: `This is ${model}.` }, null)}${chunk({}, "stop")}${usage}data: [DONE]\n\n`;
  }

  async end(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
