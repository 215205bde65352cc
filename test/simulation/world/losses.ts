import type { Body } from '../model/state.ts';
import type { Statement } from '../store.ts';
import { lockMs } from './jobs.ts';

/** A worker as the database last heard it. */
interface Heard {
  at: number;
  since: number;
  stopping: boolean;
  /** The times in which it computed without yielding. */
  busy: [from: number, to: number][];
}

/** The causes of lost workers that the product promises to know, from what really happened. */
export class Losses {
  readonly #heard = new Map<string, Heard>();
  /** When each worker was last asked about. */
  readonly #askedAt = new Map<string, number>();
  #restartedAt = 0;

  see(at: number, { name, values }: Statement): void {
    const [id, report] = values as [string, string];
    if (name === 'loss_cause') this.#askedAt.set(id, at);
    if (name !== 'report_worker') return;
    const { draining, stopped, stalls = [] } = JSON.parse(report) as Body;
    const { since = at, busy = [] } = this.#heard.get(id) ?? {};
    for (const { kind, from_ms, to_ms } of stalls) if (kind === 'busy') busy.push([at - from_ms, at - to_ms]);
    this.#heard.set(id, { at, since, stopping: draining || stopped, busy });
  }

  restarted(at: number): void {
    this.#restartedAt = at;
  }

  /** Whether a worker that was last seen at this time was lost in a way that says nothing against its runs. */
  isExplained(worker: string, seenAt: number): boolean {
    if (this.#restartedAt > seenAt) return true;
    const lost = this.#heard.get(worker);
    const expiredAt = seenAt + lockMs;
    if (lost?.busy.some(([from, to]) => from <= expiredAt && expiredAt < to)) return false;
    if (lost?.stopping) return true;
    const askedAt = this.#askedAt.get(worker) ?? 0;
    const others = [...this.#heard].filter(([other]) => other !== worker);
    // it was heard for the last time in that moment, and no more for longer than live ones stay silent
    const isSilent = ({ at }: Heard) =>
      askedAt - at > lockMs && at >= seenAt - (2 * lockMs) / 3 && at <= seenAt + lockMs;
    return others.some(([, other]) => !other.stopping && isSilent(other));
  }
}
