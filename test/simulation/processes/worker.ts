import type { RunJob } from '../../../src/queue/job.ts';
import { jobId } from '../../../src/queue/job.ts';
import { isTransient } from '../../../src/postgres/errors.ts';
import { callFunction, repeatIfLost } from '../../../src/store/call-function.ts';
import { claimBody, type Claim, type Refusal } from '../../../src/store/run/claim-run.ts';
import { releaseRun } from '../../../src/store/run/requeue-runs.ts';
import { renewLeases } from '../../../src/store/run/renew-leases.ts';
import { sweep } from '../../../src/runtime/worker/sweep.ts';
import { dispatch, dispatchFirst } from '../../../src/queue/dispatch.ts';
import { lockMs, type Taker } from '../world/jobs.ts';
import { Actor } from '../world/network.ts';
import type { World } from '../world/world.ts';
import { drive } from './drive.ts';
import { Held } from './held.ts';

export const leaseMs = lockMs;
const places = 4;
const sweepMs = 3_000;
const ignore = () => {};

/**
 * A worker: it takes jobs, claims their runs, renews its leases, and sweeps. The sweep is the product's; so are the
 * statements and the strategy. What is between them follows `src/runtime/worker` and `src/runtime/run/drive.ts`, without
 * their timers.
 */
export class Worker implements Taker {
  readonly actor: Actor;
  readonly #held = new Map<string, Held>();
  #taken = 0;
  #id = '';

  constructor(
    readonly world: World,
    readonly name: string,
  ) {
    this.actor = new Actor(world, name, true);
    this.#start();
  }

  free(): number {
    return this.world.jobs.takers.has(this) ? places - this.#taken : 0;
  }

  take(job: RunJob, token: string): void {
    this.#taken++;
    this.world.clock.in(3, this.actor, () => void this.#process(job, token));
  }

  /** Everything that it was about to do is lost. */
  crash(restartMs: number): void {
    this.world.jobs.takers.delete(this);
    this.actor.crash();
    this.world.clock.in(restartMs, undefined, () => this.#start());
  }

  freeze(ms: number): void {
    this.actor.frozenUntil = this.world.clock.now + ms;
  }

  /** Gives its runs back, and starts again. */
  async stop(): Promise<void> {
    const { jobs, clock } = this.world;
    jobs.takers.delete(this);
    const { life } = this.actor;
    clock.in(8_000, undefined, () => {
      if (this.actor.life === life) this.crash(500);
    });
    for (const held of [...this.#held.values()]) {
      held.abort('released');
      const job = await releaseRun(this.actor.db, held, true).catch(ignore);
      if (job) await dispatchFirst(this.actor.db, jobs.asRunQueue(), [job]);
    }
  }

  #start(): void {
    if (this.world.jobs.takers.has(this)) return;
    this.#id = `${this.name}.${this.actor.life}`;
    this.#held.clear();
    this.#taken = 0;
    this.world.jobs.takers.add(this);
    void this.#repeat(leaseMs / 3, () => this.#renew());
    void this.#repeat(sweepMs, () => this.#sweep());
    this.world.jobs.offer();
  }

  async #repeat(everyMs: number, act: () => Promise<unknown>): Promise<void> {
    const random = this.world.chances.of(`pauses of ${this.#id}`);
    for (;;) {
      await this.actor.sleep(Math.round(everyMs * (0.75 + random.next() / 2)));
      await act().catch(ignore);
    }
  }

  async #renew(): Promise<void> {
    const held = [...this.#held.values()];
    for (const { job, token } of held) this.world.jobs.renew(jobId(job), token);
    if (held.length === 0) return;
    const askedAt = this.world.clock.now;
    await renewLeases(this.actor.db, held, leaseMs, (run, { lost, cancelRequested, renewed }) => {
      if (lost) run.abort('lost');
      else if (cancelRequested) run.abort('cancelled');
      if (renewed) run.renewed(askedAt);
    });
  }

  #sweep(): Promise<number> {
    const known = { agents: ['agent'], strategies: ['react'], versions: [] };
    const limits = { graceMs: 5_000, cancelGraceMs: 5_000, adoptable: ['agent'], known };
    return sweep(this.actor.db, this.world.jobs.asRunQueue(), { ...limits, onError: ignore, onExpired: ignore });
  }

  async #process(job: RunJob, token: string): Promise<void> {
    const { jobs } = this.world;
    try {
      if (await this.#work(job, token)) jobs.done(jobId(job), token);
    } catch (error) {
      if (!isTransient(error)) this.world.report('unexpected-errors', `${this.name}: ${String(error)}`);
      jobs.delay(jobId(job), token, 700);
    } finally {
      this.#taken--;
      jobs.offer();
    }
  }

  /** True if the job is done. */
  async #work(job: RunJob, token: string): Promise<boolean> {
    const { jobs } = this.world;
    const askedAt = this.world.clock.now;
    let claim = await this.#claim(job, token, false);
    if (!claim.claimed && claim.reason === 'alone' && this.#taken === 1) claim = await this.#claim(job, token, true);
    if (claim.claimed) {
      const held = new Held(this.actor, job, token, leaseMs, claim, askedAt);
      this.#held.set(token, held);
      try {
        await drive(held, claim);
      } finally {
        this.#held.delete(token);
      }
      return true;
    }
    if (claim.promoted) await dispatch(this.actor.db, jobs.asRunQueue(), claim.promoted);
    if (claim.reason !== 'early' && claim.reason !== 'alone') return true;
    jobs.delay(jobId(job), token, claim.delay_ms ?? 700);
    return false;
  }

  /** As `claimRun`, except that the seed chooses by how much the lease rises. */
  #claim({ thread_id, run_id, enqueue_no }: RunJob, token: string, alone: boolean): Promise<Claim | Refusal> {
    const { db } = this.actor;
    const terms = {
      ...{ workerId: this.#id, leaseMs, prompt: null, fingerprint: 'f', agentVersion: 'v_1', alone },
      ...{ maxClaimsWithoutProgress: 5, strategies: ['react'] },
    };
    const body = { ...claimBody(db, terms), lease_gap: this.world.chances.of(`gap ${token}`).int(1, 1_000) };
    return repeatIfLost((repeated) =>
      callFunction(db, 'claim_run', thread_id, [run_id, enqueue_no, repeated ? { ...body, repeated } : body]),
    );
  }
}
