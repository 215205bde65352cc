import { LanefoldError } from '../../../src/errors.ts';
import type { RunJob } from '../../../src/queue/job.ts';
import { isTransient } from '../../../src/postgres/errors.ts';
import { CancelRequested, Released } from '../../../src/runtime/run/held-run.ts';
import type { Claim } from '../../../src/store/run/claim-run.ts';
import type { HeldLease } from '../../../src/store/run/renew-leases.ts';
import type { Actor } from '../world/network.ts';

const persistForMs = 60_000;

/** A run under a worker's lease, as `HeldRun` of the runtime, on virtual time. */
export class Held implements HeldLease {
  readonly threadId: string;
  readonly runId: string;
  readonly lease: number;
  step: number;
  #deadline: number;
  #aborted: 'lost' | 'cancelled' | 'released' | undefined;

  constructor(
    readonly actor: Actor,
    readonly job: RunJob,
    readonly token: string,
    readonly leaseMs: number,
    { lease, step }: Claim,
    askedAt: number,
  ) {
    this.threadId = job.thread_id;
    this.runId = job.run_id;
    this.lease = lease;
    this.step = step;
    this.#deadline = askedAt + leaseMs;
  }

  renewed(askedAt: number): void {
    this.#deadline = Math.max(this.#deadline, askedAt + this.leaseMs);
  }

  abort(why: 'lost' | 'cancelled' | 'released'): void {
    this.#aborted ??= why;
  }

  /** @throws what stops the run: another worker has it, it is to be cancelled, or its worker stops */
  assertHeld(): void {
    if (this.#aborted === 'cancelled') throw new CancelRequested();
    if (this.#aborted === 'released') throw new Released();
    if (this.#aborted === 'lost' || this.actor.world.clock.now >= this.#deadline)
      throw new LanefoldError('lease_lost', 'The lease expired before it was renewed.');
  }

  /** Repeats a write until the database answers. */
  async persist<T extends { duplicate?: boolean } | void>(write: () => Promise<T>): Promise<T> {
    const { clock } = this.actor.world;
    const giveUpAt = clock.now + persistForMs;
    for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 2_000)) {
      const askedAt = clock.now;
      try {
        const result = await write();
        if (!result?.duplicate) this.renewed(askedAt);
        return result;
      } catch (error) {
        if (!isTransient(error) || this.#aborted === 'released' || clock.now > giveUpAt) throw error;
        await this.actor.sleep(pauseMs);
      }
    }
  }
}
