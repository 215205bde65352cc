import { createPostgresBackend, withBackend } from 'bullmq';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { GatheringPool } from '../../src/runs/queue/gathering-pool.ts';
import { Looks } from '../../src/runs/queue/taking/known-queue.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

const { Queue, Worker } = withBackend(createPostgresBackend);

let database: TestDatabase;
let pool: GatheringPool;
beforeAll(async () => {
  database = await createDatabase();
  pool = new GatheringPool({ connectionString: database.url, options: '-c search_path="bullmq"' });
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

/** The statements that ended jobs. */
let sent: string[];
const query = pg.Client.prototype.query as (...args: unknown[]) => unknown;
beforeEach(() => {
  sent = [];
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    if (/move_to_completed|state = 'completed'/.test(String(args[0]))) sent.push(String(args[0]));
    return query.apply(this, args) as never;
  });
});

afterEach(() => void vi.restoreAllMocks());

/** Adds jobs and takes them by hand. */
async function taken(name: string, count: number) {
  const queue = new Queue(name, { connection: pool as never });
  const worker = new Worker(name, null, { connection: pool as never, autorun: false, skipStalledCheck: true });
  onTestFinished(async () => void (await Promise.all([worker.close(), queue.close()])));
  await queue.addBulk(Array.from({ length: count }, (_, n) => ({ name: 'run', data: { n } })));
  const jobs = [];
  for (let n = 0; n < count; n++) jobs.push((await worker.getNextJob('token', { block: false }))!);
  return { queue, jobs };
}

test('jobs that end at the same moment share a statement', async () => {
  const { queue, jobs } = await taken('together', 5);
  await Promise.all(jobs.map((job, n) => job.moveToCompleted({ n }, 'token', false)));
  expect(sent).toHaveLength(1);
  expect((await queue.getCompleted()).map((job) => (job.returnvalue as { n: number }).n).sort()).toEqual([
    0, 1, 2, 3, 4,
  ]);
});

test('each gets the next job, as long as there are jobs', async () => {
  vi.spyOn(Looks.prototype, 'begin').mockReturnValue(false);
  const { queue, jobs } = await taken('next', 3);
  await queue.addBulk([
    { name: 'run', data: { n: 3 } },
    { name: 'run', data: { n: 4 } },
  ]);
  const next = await Promise.all(jobs.map((job) => job.moveToCompleted({}, 'token', true)));
  expect(sent).toHaveLength(1);
  const data = next.map((one) => (one as [{ data: string } | null])[0]?.data);
  expect(data).toEqual(['{"n":3}', '{"n":4}', undefined]);
});

test('a job that its worker has lost fails alone', async () => {
  const { queue, jobs } = await taken('lost', 3);
  const ended = await Promise.allSettled(
    jobs.map((job, n) => job.moveToCompleted({}, n === 1 ? 'other' : 'token', false)),
  );
  expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(ended[1]).toMatchObject({ reason: { message: expect.stringContaining('Lock mismatch') as string } });
  expect(sent).toHaveLength(2);
  expect(await queue.getJobCountByTypes('completed')).toBe(2);
  expect(await queue.getJobCountByTypes('active')).toBe(1);
});
