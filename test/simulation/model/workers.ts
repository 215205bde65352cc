import type { Body } from './state.ts';

interface Reported {
  started_at: number;
  heartbeat_at: number;
  dead_after_ms: number;
  draining: boolean;
  stopped: boolean;
  busy: Span[];
  frozen: Span[];
}

type Span = [from: number, to: number];

const holds = (spans: readonly Span[], at: number): boolean => spans.some(([from, to]) => from <= at && at < to);

/** A span without others, which are in order. */
function without([from, to]: Span, others: readonly Span[]): Span[] {
  const rest: Span[] = [];
  let at = from;
  for (const [begin, end] of others) {
    if (begin > at) rest.push([at, Math.min(begin, to)]);
    at = Math.max(at, end);
  }
  return [...rest, [at, to] as Span].filter(([begin, end]) => begin < end && begin < to);
}

/** The heartbeats of workers, and what they say of one that is lost. */
export class Workers {
  /** When the database was last started. */
  restartedAt = 0;
  readonly #workers = new Map<string, Reported>();
  readonly #silences: Span[] = [];

  report(at: number, id: string, { dead_after_ms, draining, stopped, stalls = [] }: Body): void {
    const last = this.#last();
    if (at - last > dead_after_ms / 2 && last > 0) this.#silences.push([last, at]);
    const known = this.#workers.get(id);
    const reported = { heartbeat_at: at, draining, stopped: stopped === true };
    const { busy = [], frozen = [] } = known ?? {};
    for (const { kind, from_ms, to_ms } of known ? stalls : [])
      (kind === 'busy' ? busy : frozen).push([at - from_ms, at - to_ms]);
    this.#workers.set(id, { started_at: at, dead_after_ms, ...known, ...reported, busy, frozen });
  }

  lossCause(at: number, id: string, seenAt: number, askedBy: string): string | null {
    if (this.restartedAt > seenAt) return 'database_restarted';
    const lost = this.#workers.get(id);
    const lateMs = lost ? lost.dead_after_ms / 2 : NaN;
    if (lost && holds(lost.busy, seenAt + lateMs)) return null;
    if (lost && holds(lost.frozen, seenAt + lateMs)) return 'worker_frozen';
    if (lost && (lost.draining || lost.stopped)) return 'worker_stopping';
    const last = this.#last();
    const silences: Span[] = at - last > lateMs ? [...this.#silences, [last, at]] : this.#silences;
    const others = [...this.#workers].filter(([other]) => other !== id);
    const heededBy = (span: Span) =>
      others
        .filter(([other, w]) => w.started_at <= span[0] && (w.heartbeat_at >= span[1] || other === askedBy))
        .flatMap(([, w]) => without(span, w.busy));
    const isHeeded = (span: Span) =>
      heededBy(span).some(
        ([from, to]) => to - from >= Math.min(lateMs, span[1] - span[0]) && from < seenAt + lateMs && to > seenAt,
      );
    if (silences.some(isHeeded)) return 'database_silent';
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
