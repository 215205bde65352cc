import type { Body } from './state.ts';

interface Reported {
  started_at: number;
  heartbeat_at: number;
  dead_after_ms: number;
  draining: boolean;
  stopped: boolean;
}

type Span = [from: number, to: number];

/** The heartbeats of workers, and what they say of one that is lost. */
export class Workers {
  /** When the database was last started. */
  restartedAt = 0;
  readonly #workers = new Map<string, Reported>();
  readonly #silences: Span[] = [];

  report(at: number, id: string, { dead_after_ms, draining, stopped }: Body): void {
    const last = this.#last();
    if (at - last > dead_after_ms / 2 && last > 0) this.#silences.push([last, at]);
    const known = this.#workers.get(id);
    const reported = { heartbeat_at: at, draining, stopped: stopped === true };
    this.#workers.set(id, { started_at: at, dead_after_ms, ...known, ...reported });
  }

  lossCause(at: number, id: string, seenAt: number, askedBy: string): string | null {
    if (this.restartedAt > seenAt) return 'database_restarted';
    const lost = this.#workers.get(id);
    if (lost && (lost.draining || lost.stopped)) return 'worker_stopping';
    const lateMs = lost ? lost.dead_after_ms / 2 : NaN;
    const last = this.#last();
    const silences: Span[] = at - last > lateMs ? [...this.#silences, [last, at]] : this.#silences;
    const others = [...this.#workers].filter(([other]) => other !== id);
    const livedThrough = ([from, to]: Span) =>
      others.some(([other, w]) => w.started_at <= from && (w.heartbeat_at >= to || other === askedBy));
    if (silences.some((span) => span[0] < seenAt + lateMs && span[1] > seenAt && livedThrough(span)))
      return 'database_silent';
    const fellSilent = others.some(
      ([, w]) =>
        !w.stopped &&
        w.heartbeat_at >= seenAt - (lateMs * 2) / 3 &&
        w.heartbeat_at <= seenAt + lateMs &&
        w.heartbeat_at < at - (w.dead_after_ms * 5) / 12,
    );
    return fellSilent ? 'workers_lost' : null;
  }

  #last = (): number => Math.max(0, ...[...this.#workers.values()].map(({ heartbeat_at: at }) => at));
}
