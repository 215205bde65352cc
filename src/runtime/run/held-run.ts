import { LanefoldError } from '../../errors.ts';
import { isTransient } from '../../postgres/errors.ts';

/** How long a commit is tried again: longer than a restart of PostgreSQL takes. */
const persistForMs = 60_000;

/**
 * A run under this worker's lease. `signal` aborts when the lease is lost or the run is to be cancelled; everything the
 * run does listens to it.
 */
export class HeldRun {
  readonly #controller = new AbortController();
  /** This process's clock; never later than the database's deadline. */
  #deadline: number;
  step = 0;
  lease = 0;

  constructor(
    readonly threadId: string,
    readonly runId: string,
    readonly leaseMs: number,
    askedAt: number,
  ) {
    this.#deadline = askedAt + leaseMs;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Takes note of a renewal by the time it was asked for, so that a slow answer shortens the lease, never lengthens it. */
  renewed(askedAt: number): void {
    this.#deadline = Math.max(this.#deadline, askedAt + this.leaseMs);
  }

  lose(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /** Immediately before a model call or a tool: a worker that has slept past its lease starts nothing. */
  assertHeld(): void {
    this.signal.throwIfAborted();
    if (performance.now() < this.#deadline) return;
    const error = new LanefoldError('lease_lost', `The lease of run ${this.runId} ran out before it was renewed.`, {
      hint: 'Another worker continues the run.',
    });
    this.lose(error);
    throw error;
  }

  /** Carries out a fenced write, which renews the lease as `renews` says of its result. After a broken connection, a deadlock or on a full disk it is tried again, because writing twice writes once. */
  async persist<T>(write: () => Promise<T>, renews: (result: T) => boolean = () => true): Promise<T> {
    const giveUpAt = performance.now() + persistForMs;
    for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 2_000)) {
      const askedAt = performance.now();
      try {
        const result = await write();
        if (renews(result)) this.renewed(askedAt);
        return result;
      } catch (error) {
        if (!isTransient(error) || this.signal.reason instanceof HandedOver || performance.now() > giveUpAt)
          throw error;
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
  }
}

/** The reason of an abort by a cancel, as against a lost lease. */
export class CancelRequested extends Error {
  constructor() {
    super('The run is to be cancelled.');
    this.name = 'CancelRequested';
  }
}

/** The reason of an abort by a worker that stops: the run is whole, and another worker goes on with it. */
export class HandedOver extends Error {
  constructor() {
    super('The worker stops; another one continues the run.');
    this.name = 'HandedOver';
  }
}
