import { Released } from '../../../src/worker/run/held-run.ts';
import { LimitGate } from '../../../src/runs/limiter/gate.ts';
import type { RunQueue } from '../../../src/runs/queue/queue.ts';
import type { RunningWorker, WorkerOptions } from '../../../src/worker/process/options.ts';
import { evalsPart } from '../../../src/features/evals/worker/part.ts';
import { monitorsPart } from '../../../src/features/monitors/worker/part.ts';
import { schedulesPart } from '../../../src/features/schedules/worker/part.ts';
import { webhooksPart } from '../../../src/features/webhooks/worker/part.ts';
import type { WorkerDependencies } from '../../../src/worker/process/open-worker.ts';
import { startWorker } from '../../../src/worker/process/worker.ts';
import { isLanefoldError } from '../../../src/base/errors.ts';
import { isTransient } from '../../../src/database/postgres/errors.ts';
import { lockMs } from '../world/jobs.ts';
import { Actor } from '../world/network.ts';
import type { World } from '../world/world.ts';
import { newCounting, shared } from './agents.ts';
import { queueOf } from './queue.ts';

export const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** What a worker has that starts. */
export type Equip = (
  actor: Actor,
  queue: RunQueue,
  onError: (error: unknown) => void,
) => { deps: WorkerDependencies; options?: WorkerOptions };

/** They have nothing to do here, and look for it. */
const features = [
  schedulesPart({} as Parameters<typeof schedulesPart>[0]),
  webhooksPart({ anywhere: false, timeoutMs: 10_000, notices: undefined }),
  evalsPart({} as Parameters<typeof evalsPart>[0], []),
  monitorsPart(undefined as unknown as Parameters<typeof monitorsPart>[0], []),
];

const equip: Equip = (actor, queue, onError) => {
  const { db } = actor;
  const own = {
    ...shared,
    counting: newCounting(),
    promptCaching: false,
    db,
    connect: () => db,
    privateQueue: true,
    log: silent,
    gate: new LimitGate(db, queue, onError),
    parts: features,
  };
  return { deps: own as unknown as WorkerDependencies };
};

/** A process with a worker of the product, which sees this world's time, network, queue and database. */
export class Worker {
  readonly actor: Actor;
  #running: RunningWorker | undefined;

  constructor(
    readonly world: World,
    readonly name: string,
    private readonly equipped = equip,
  ) {
    this.actor = new Actor(world, name, true);
    world.workers.set(this.actor, this);
    this.#startIn(1);
  }

  /** Everything that it was about to do is lost. */
  crash(restartMs: number): void {
    this.#running = undefined;
    this.world.jobs.leave(this.actor);
    this.actor.crash();
    this.#startIn(restartMs);
  }

  freeze(ms: number): void {
    this.actor.frozenUntil = this.world.clock.now + ms;
  }

  /** As if it were frozen, but it computes. */
  block(ms: number): void {
    this.freeze(ms);
    this.actor.computedMs += ms;
  }

  /** Gives its runs back, and starts again. */
  stop(): void {
    const { life } = this.actor;
    const restart = () => {
      if (this.actor.life === life) this.crash(500);
    };
    this.world.clock.in(1, this.actor, () => void this.#running?.stop({ graceMs: 500 }).then(restart));
    this.world.clock.in(8_000, undefined, restart);
  }

  #startIn(ms: number): void {
    this.world.clock.in(ms, this.actor, () => void this.#start());
  }

  async #start(): Promise<void> {
    const queue = queueOf(this.actor);
    const onError = (error: unknown) => this.#failed(error);
    const { deps, options } = this.equipped(this.actor, queue, onError);
    try {
      const intervals = { leaseMs: lockMs, sweepMs: 3_000, traceRetentionDays: 0 };
      this.#running = await startWorker(deps, queue, { concurrency: 4, ...intervals, ...options, onError });
    } catch (error) {
      this.#failed(error);
      this.crash(1_000);
    }
  }

  /** A refusal, a lost answer, or a run that could not be given back: the history knows. */
  #failed(error: unknown): void {
    const expected = isLanefoldError(error) || isTransient(error) || error instanceof Released;
    if (!expected) this.world.report('unexpected-errors', `${this.name}: ${(error as Error).stack ?? String(error)}`);
  }
}
