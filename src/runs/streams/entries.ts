import type { JsonObject } from '../../agent/context/message.ts';
import type { Database } from '../../database/postgres/pool.ts';
import { readPayloads } from '../../database/store/log/read-entries.ts';
import type { RunEvent } from '../../database/store/trace/read-events.ts';
import { untilReachable } from './until-reachable.ts';
import { after } from '../../base/common/timer.ts';

type Payloads = Map<number, JsonObject>;

/** How long an entry stays cached: other streams of its thread need it at the same moment. */
const sharedMs = 1_000;

/** Reads the entries that events are about: one statement per page, shared by all streams that deliver it. */
export class EntryPayloads {
  readonly #db: Database;
  readonly #shared = new WeakMap<RunEvent, Promise<Payloads>>();

  constructor(db: Database) {
    this.#db = db;
  }

  /** Payloads by `seq`: those of answers if `deltas` is set, of all entries if `entries` is set. */
  async of(threadId: string, events: RunEvent[], want: { deltas: boolean; entries: boolean }): Promise<Payloads> {
    const wanted = events.filter(
      ({ kind, data }) =>
        typeof data['seq'] === 'number' && (want.entries || (want.deltas && kind === 'llm_completed')),
    );
    if (wanted.length === 0) return new Map();
    const missing = wanted.filter((event) => !this.#shared.has(event));
    if (missing.length > 0) this.#read(threadId, missing);
    const found = await Promise.all(new Set(wanted.map((event) => this.#shared.get(event)!)));
    return found.length === 1 ? found[0]! : new Map(found.flatMap((payloads) => [...payloads]));
  }

  #read(threadId: string, events: RunEvent[]): void {
    const seqs = events.map((event) => event.data['seq'] as number);
    const reading = untilReachable(() => readPayloads(this.#db, threadId, seqs));
    for (const event of events) this.#shared.set(event, reading);
    const forget = () => {
      for (const event of events) this.#shared.delete(event);
    };
    reading.then(() => after(sharedMs, forget, { ref: false }), forget);
  }
}
