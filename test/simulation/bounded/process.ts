import { isLanefoldError } from '../../../src/base/errors.ts';
import { isTransient } from '../../../src/database/postgres/errors.ts';
import type { WorkReport } from '../../../src/runs/operations/fleet/types.ts';
import type { RunQueue } from '../../../src/runs/queue/queue.ts';
import type { WorkerOptions } from '../../../src/worker/process/options.ts';
import { workUntilIdle } from '../../../src/worker/process/work.ts';
import { startWorker } from '../../../src/worker/process/worker.ts';
import { Released } from '../../../src/worker/run/held-run.ts';
import { queueOf } from '../processes/queue.ts';
import type { Equip } from '../processes/worker.ts';
import type { Disturbed } from '../world/disturb.ts';
import { lockMs } from '../world/jobs.ts';
import { Actor } from '../world/network.ts';
import type { World } from '../world/world.ts';
import type { Promises } from './promises.ts';

/** A call for work in a process. */
export interface WorkCall {
  readonly actor: Actor;
  /** The same for no other call. */
  readonly name: string;
  /** The id of its worker, once that has started. */
  worker: string | undefined;
  readonly deps: ReturnType<Equip>['deps'];
  readonly maxMs: number;
  readonly begunAt: number;
  /** What went wrong that its worker was told of. */
  readonly errors: unknown[];
  /** Ends it early. */
  readonly caller: AbortController;
}

/** A process that works only while it is called for work, by the code of the product. */
export class BoundedProcess implements Disturbed {
  readonly actor: Actor;
  /** The call in which it works. */
  call: WorkCall | undefined;
  #calls = 0;
  /** What it keeps between calls. */
  #opened: { queue: RunQueue; equipped: ReturnType<Equip> } | undefined;

  constructor(
    readonly world: World,
    readonly name: string,
    private readonly equip: Equip,
    private readonly promises: Promises,
  ) {
    this.actor = new Actor(world, name, true);
    world.workers.set(this.actor, this);
  }

  get isWorking(): boolean {
    return this.call !== undefined;
  }

  /** The platform kills it; the next call starts another one. */
  crash(): void {
    this.call = undefined;
    this.#opened = undefined;
    this.world.jobs.leave(this.actor);
    this.actor.crash();
  }

  freeze(ms: number): void {
    this.actor.frozenUntil = this.world.clock.now + ms;
  }

  /** As if it were frozen, but it computes. */
  block(ms: number): void {
    this.freeze(ms);
    this.actor.computedMs += ms;
  }

  /** Its caller wants no more of it. */
  stop(): void {
    const { call } = this;
    if (call) this.world.clock.in(1, this.actor, () => call.caller.abort());
  }

  /** The next call starts another process. */
  end(): void {
    if (this.call) this.stop();
    else this.crash();
  }

  work({ maxMs, concurrency }: { maxMs: number; concurrency: number }): void {
    const { world, actor } = this;
    const { equipped } = (this.#opened ??= this.#open());
    const begunAt = world.clock.now;
    const caller = new AbortController();
    const name = `call ${++this.#calls} of ${this.name}`;
    const call = { actor, name, worker: undefined, deps: equipped.deps, maxMs, begunAt, errors: [], caller };
    this.call = call;
    const begun = this.promises.begun(call);
    world.clock.in(1, undefined, async () => {
      await begun.look();
      world.clock.in(1, actor, () => void this.#work(call, concurrency).then((report) => begun.ended(report)));
    });
  }

  #open() {
    const queue = queueOf(this.actor);
    return { queue, equipped: this.equip(this.actor, queue, (error) => this.#failed(error)) };
  }

  async #work(call: WorkCall, concurrency: number): Promise<WorkReport | undefined> {
    const { queue, equipped } = this.#opened!;
    const start = async (options: WorkerOptions) => {
      const worker = await startWorker(equipped.deps, queue, options);
      call.worker = worker.id;
      return worker;
    };
    const onError = (error: unknown) => {
      call.errors.push(error);
      this.#failed(error);
    };
    const intervals = { leaseMs: lockMs, sweepMs: 3_000, traceRetentionDays: 0 };
    const options = { concurrency, maxMs: call.maxMs, ...intervals, ...equipped.options, onError };
    const report = await workUntilIdle(
      start,
      { ...options, signal: call.caller.signal },
      new AbortController().signal,
    ).catch(onError);
    this.call = undefined;
    const goesOn = this.world.chances.of(`after ${call.name}`).chance(0.5);
    this.world.clock.in(2, undefined, () => {
      if (!goesOn && !this.call) this.crash();
    });
    return report ?? undefined;
  }

  /** A refusal, a lost answer, or a run that could not be given back: the history knows. */
  #failed(error: unknown): void {
    const expected = isLanefoldError(error) || isTransient(error) || error instanceof Released;
    if (!expected) this.world.report('unexpected-errors', `${this.name}: ${(error as Error).stack ?? String(error)}`);
  }
}
