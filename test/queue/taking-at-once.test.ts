// @module-tag slow
import { createPostgresBackend, Job, withBackend } from 'bullmq';
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { GatheringPool } from '../../src/runs/queue/gathering-pool.ts';
import { Floor } from '../../src/runs/queue/taking/known-queue.ts';
import { cases } from '../support/cases.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const { Queue, Worker } = withBackend(createPostgresBackend);
const workers = 3;

let database: TestDatabase;
let pools: pg.Pool[];
beforeAll(async () => {
  database = await createDatabase();
  const config = { connectionString: database.url, options: '-c search_path="bullmq"' };
  pools = Array.from({ length: workers }, () => new GatheringPool({ ...config, max: 4 }).setMaxListeners(0));
});
afterAll(async () => {
  await Promise.all((pools ?? []).map((pool) => pool.end()));
  await database?.drop();
});

type Act =
  | { add: 'back' | 'front' | 'prioritized' | 'delayed' | 'late' }
  | { commit: true }
  | { take: number }
  | { end: number; fails: boolean; fetches: boolean }
  | { moveBack: number };

const worker = fc.nat(workers - 1);
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ add: fc.constantFrom('back', 'back', 'front', 'prioritized', 'delayed', 'late') }),
  },
  { weight: 4, arbitrary: fc.record({ take: worker }) },
  { weight: 4, arbitrary: fc.record({ end: worker, fails: fc.boolean(), fetches: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ moveBack: worker }) },
  { weight: 1, arbitrary: fc.record({ commit: fc.constant(true as const) }) },
) as fc.Arbitrary<Act>;
/** Acts of a group happen at once. */
const history = fc.array(fc.array(act, { minLength: 1, maxLength: 6 }), { minLength: 5, maxLength: 25 });

class Trial {
  readonly ended = new Set<string>();
  readonly #active = new Map<string, number>();
  readonly #held: Job[][] = Array.from({ length: workers }, () => []);
  readonly #late: pg.PoolClient[] = [];
  readonly queue;
  readonly workers;
  added = 0;

  constructor(readonly name: string) {
    this.queue = new Queue(name, { connection: pools[0] as never });
    const hand = { autorun: false, skipStalledCheck: true, lockDuration: 600_000 };
    this.workers = pools.map((pool) => new Worker(name, null, { connection: pool as never, ...hand }));
  }

  async perform(one: Act): Promise<void> {
    if ('add' in one) return this.#add(one.add);
    if ('commit' in one) return this.#commit();
    if ('take' in one) return this.take(one.take);
    const own = 'end' in one ? one.end : one.moveBack;
    const job = this.#held[own]!.shift();
    if (!job) return;
    this.#active.delete(job.id!);
    if ('moveBack' in one) return void (await job.moveToWait(tokenOf(own)));
    this.ended.add(job.id!);
    const next = (await (one.fails
      ? job.moveToFailed(new Error('failed'), tokenOf(own), one.fetches)
      : job.moveToCompleted({}, tokenOf(own), one.fetches))) as [Parameters<typeof Job.fromJSON>[1]] | undefined;
    if (next?.[0]) this.#took(own, Job.fromJSON(this.workers[own] as never, next[0], next[0].id));
  }

  async take(own: number): Promise<void> {
    const job = await this.workers[own]!.getNextJob(tokenOf(own), { block: false });
    if (job) this.#took(own, job);
  }

  /** Ends every job, also those that come late. */
  async drain(): Promise<void> {
    while (this.#late.length > 0) await this.#commit();
    await until('all jobs have ended', async () => {
      for (let own = 0; own < workers; own++) {
        await this.take(own);
        while (this.#held[own]!.length > 0) await this.perform({ end: own, fails: false, fetches: true });
      }
      return this.ended.size === this.added;
    });
  }

  async close(): Promise<void> {
    for (const client of this.#late.splice(0)) client.release(true);
    await Promise.all([this.queue.close(), ...this.workers.map((one) => one.close())]);
  }

  #took(own: number, job: Job): void {
    expect(this.#active.get(job.id!), `${job.id} was taken twice`).toBeUndefined();
    expect(this.ended, 'a job that has ended was taken').not.toContain(job.id);
    this.#active.set(job.id!, own);
    this.#held[own]!.push(job);
  }

  async #add(kind: 'back' | 'front' | 'prioritized' | 'delayed' | 'late'): Promise<void> {
    const id = `${kind}-${this.added++}`;
    if (kind !== 'late') {
      const more = { back: {}, front: { lifo: true }, prioritized: { priority: 1 }, delayed: { delay: 1 } }[kind];
      return void (await this.queue.add('job', {}, { jobId: id, ...more }));
    }
    const client = await database.pool.connect();
    this.#late.push(client);
    await client.query('begin');
    await client.query(
      `select bullmq.add_job($1, $2, 'job', '{}', '{}', 0, 0, 0, 1, null, null, null, null, null, false)`,
      [this.name, id],
    );
    // the pool must not run out of connections
    if (this.#late.length > 2) await this.#commit();
  }

  async #commit(): Promise<void> {
    const client = this.#late.shift();
    await client?.query('commit');
    client?.release();
  }
}

const tokenOf = (own: number): string => `token-${own}`;

test('workers that take at once never take the same job, and none is left behind', async () => {
  // each floor is raised at the first chance, which leaves the most jobs behind it
  const raise = Floor.prototype.raise;
  vi.spyOn(Floor.prototype, 'raise').mockImplementation(function (this: Floor, scan) {
    raise.call(this, scan);
    raise.call(this, { ...scan, startedAt: Infinity });
  });
  let trials = 0;
  await fc.assert(
    fc.asyncProperty(history, async (groups) => {
      const trial = new Trial(`trial-${trials++}`);
      try {
        for (const group of groups) await Promise.all(group.map((one) => trial.perform(one)));
        await trial.drain();
        const counts = await trial.queue.getJobCounts('waiting', 'prioritized', 'delayed', 'active');
        expect(counts).toEqual({ waiting: 0, prioritized: 0, delayed: 0, active: 0 });
        expect(trial.ended.size).toBe(trial.added);
      } finally {
        await trial.close();
      }
    }),
    { numRuns: cases(6) },
  );
});
