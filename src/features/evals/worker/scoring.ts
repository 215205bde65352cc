import { holdItem, takeScoring, type OpenEval, type StartedItem } from '../store/items.ts';
import type { EvalDependencies } from './dependencies.ts';
import { every } from '../../../base/common/timer.ts';
import { scoreItem } from './score-item.ts';

/** How many items a worker scores at once. */
const atOnce = 8;
/** After this, another worker scores what a dead one had taken. */
const holdMs = 10_000;

/** The items that this worker is scoring, each held until it is settled. */
export class Scoring {
  readonly #active = new Set<Promise<void>>();
  readonly #stop = new AbortController();

  /** @param onSettled there is room for another one */
  constructor(
    private readonly deps: EvalDependencies,
    private readonly onSettled: () => void,
  ) {}

  get isBusy(): boolean {
    return this.#active.size > 0;
  }

  /** Scores an item, unless another worker does. Returns false if there is no room. */
  async begin(open: OpenEval, item: StartedItem): Promise<boolean> {
    if (this.#active.size >= atOnce || this.#stop.signal.aborted) return false;
    const takenAt = await takeScoring(this.deps.db, open.id, item.no, holdMs);
    if (takenAt === undefined) return true;
    const work = this.#score(open, item, takenAt)
      .catch(this.deps.onError)
      .finally(() => {
        this.#active.delete(work);
        this.onSettled();
      });
    this.#active.add(work);
    return true;
  }

  async #score(open: OpenEval, item: StartedItem, takenAt: string): Promise<void> {
    const lost = new AbortController();
    const hold = async () => {
      if (!(await holdItem(this.deps.db, open.id, { no: item.no, taken_at: takenAt }, holdMs))) lost.abort();
    };
    const timer = every(holdMs / 3, () => void hold().catch(this.deps.onError));
    const signal = AbortSignal.any([this.#stop.signal, lost.signal]);
    try {
      await scoreItem(this.deps, open, { item, takenAt, signal });
    } finally {
      timer.cancel();
    }
  }

  /** Stops scoring: other workers score what is left once it is no longer held. */
  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#active);
  }
}
