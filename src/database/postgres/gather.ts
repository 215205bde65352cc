interface Waiting<Answer> {
  item: string;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

export interface GatherLimits {
  /** Items per batch. */
  items: number;
  /** Characters per batch; a longer item travels alone. */
  characters: number;
  /** Batches in flight at once. */
  inFlight: number;
}

/**
 * Batches items: items added while all batches are in flight are sent together in the next one. There is no timer:
 * otherwise an item leaves at the end of this turn of the event loop, together with those added in the same turn.
 */
export class Gatherer<Answer> {
  #waiting: Waiting<Answer>[] = [];
  #inFlight = 0;
  #scheduled = false;

  /** Items are JSON. `send` takes a JSON array of them and answers each item, in their order. */
  constructor(
    private readonly send: (items: string) => Promise<Answer[]>,
    private readonly limits: GatherLimits,
  ) {}

  /** Rejects with the batch's error if the batch fails; only that error tells what happened to the item. */
  add(item: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled || this.#waiting.length === 0 || this.#inFlight >= this.limits.inFlight) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      void this.#sendBatch(this.#take());
      this.#schedule();
    });
  }

  #take(): Waiting<Answer>[] {
    let count = 0;
    let characters = 0;
    for (const { item } of this.#waiting.slice(0, this.limits.items)) {
      characters += item.length;
      if (count > 0 && characters > this.limits.characters) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  async #sendBatch(batch: Waiting<Answer>[]): Promise<void> {
    this.#inFlight += 1;
    try {
      const answers = await this.send(`[${batch.map(({ item }) => item).join(',')}]`);
      for (const [i, { resolve }] of batch.entries()) resolve(answers[i]!);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      this.#inFlight -= 1;
      this.#schedule();
    }
  }
}
