//! The way from a browser to the server, which a test can cut and mend.

import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

export class Cable {
  #server: Server;
  #sockets = new Set<Socket>();
  #port: number;
  /** The port that the server listens at, once it does. */
  target = 0;

  private constructor(port: number) {
    this.#port = port;
    this.#server = createServer((near) => this.#join(near));
  }

  static async laid(port: number): Promise<Cable> {
    const cable = new Cable(port);
    await cable.mend();
    cable.#port = (cable.#server.address() as AddressInfo).port;
    return cable;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Nothing passes any more, and what is on its way is lost. */
  async cut(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async mend(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(this.#port, "127.0.0.1", resolve));
  }

  #join(near: Socket): void {
    const far = connect(this.target, "127.0.0.1");
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        this.#sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }
}
