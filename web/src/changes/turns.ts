//! Lines get their colours in turns, some in each frame, and none while somebody scrolls past them: what is drawn anew
//! with each frame stays as light as it was without.

/** From how many pixels in a millisecond on nobody reads what passes. */
const FAST = 2;

/** How long nothing may have moved fast, in milliseconds. */
const REST = 160;

/** Lines that get their colours in one frame. */
const MOST = 24;

export class Turns {
  readonly #waiting = new Set<() => void>();
  #last = { top: 0, time: 0 };
  #fast = Number.NEGATIVE_INFINITY;
  #isPlanned = false;

  /** Somebody scrolled to here. */
  moved(top: number, time: number): void {
    const speed = Math.abs(top - this.#last.top) / Math.max(1, time - this.#last.time);
    if (speed > FAST) this.#fast = time;
    this.#last = { top, time };
  }

  isResting(time: number): boolean {
    return time - this.#fast >= REST;
  }

  /** Does this when it is its turn; gives what ends the waiting. */
  wait(go: () => void): () => void {
    this.#waiting.add(go);
    this.#plan();
    return () => this.#waiting.delete(go);
  }

  #plan(): void {
    if (this.#isPlanned || this.#waiting.size === 0) return;
    this.#isPlanned = true;
    requestAnimationFrame(() => {
      this.#isPlanned = false;
      if (this.isResting(performance.now())) this.#take();
      this.#plan();
    });
  }

  #take(): void {
    for (const go of [...this.#waiting].slice(0, MOST)) {
      this.#waiting.delete(go);
      go();
    }
  }
}

/** Those of the one sheet that there is. */
export const turns = new Turns();
