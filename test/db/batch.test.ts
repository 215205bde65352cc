import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openDatabase } from '../../src/database/postgres/pool.ts';
import { callFunction, type BatchedCall, type BatchedFunction } from '../../src/database/store/call-function.ts';
import { cases } from '../support/cases.ts';
import { citusLacks } from '../support/citus-lacks.ts';
import { functionsIn } from '../support/statements.ts';
import { openLog, rows, value, type TestLog } from './helpers.ts';
import { databaseFunctions } from '../../src/database/store/functions.ts';

type Call = [name: BatchedFunction, threadId: string, args: unknown[]];

/** Batches, and calls one by one. */
let batching: TestLog;
let single: TestLog;
beforeAll(async () => {
  [batching, single] = await Promise.all([openLog(), openLog()]);
  single.db.settings.distributed = true;
  const endpoint = { url: 'https://example.com', types: [], agents: [], include_result: true };
  for (const { db } of [batching, single]) {
    for (const ordered of [true, false])
      await rows(db, "select lanefold.set_webhook('default', $1, $1, $2)", `w-${ordered}`, {
        ...endpoint,
        ordered,
        by: 'x',
      });
    // each database makes its own
    await rows(db, "update lanefold._webhook set secrets = '[]'");
  }
});
afterAll(() => Promise.all([batching, single].map((log) => log.drop())));

/** The functions of each statement that the process of the test sends. */
const statements: string[][] = [];
const query = pg.Client.prototype.query as (...args: unknown[]) => unknown;
beforeAll(() => {
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    statements.push(functionsIn(args[0]));
    return query.apply(this, args);
  } as typeof pg.Client.prototype.query;
});
afterAll(() => void (pg.Client.prototype.query = query as typeof pg.Client.prototype.query));
beforeEach(() => void (statements.length = 0));

const enqueue = (threadId: string, runId: string, fields: object = {}): Call => [
  'enqueue_run',
  threadId,
  [
    {
      run_id: runId,
      request_id: runId,
      request_hash: 'aa',
      agent: 'agent',
      strategy: 'react',
      model: 'scripted:x',
      input: { content: 'go' },
      options: {},
      busy: 'wait',
      create_thread: true,
      ...fields,
    },
  ],
];
const claim = (threadId: string, runId: string, enqueueNo = 1): Call => [
  'claim_run',
  threadId,
  [
    runId,
    enqueueNo,
    {
      worker_id: 'w',
      lease_ms: 60_000,
      prompt: 'Be kind.',
      config_fingerprint: 'x',
      agent_version: 'v_1',
      max_claims_without_progress: 5,
      alone: false,
      strategies: ['react'],
    },
  ],
];
const asks = {
  entries: [{ role: 'assistant', payload: { content: '', tool_calls: [{ id: 'c', name: 'look', arguments: {} }] } }],
  events: [{ k: 'tool_started', i: 1 }],
  state: { phase: 'tools', round: 1 },
  iteration: 1,
  calls: [{ index: 0, id: 'c', name: 'look' }],
  round: 1,
};
const results = {
  entries: [{ role: 'tool', payload: { content: 'seen', tool_call_id: 'c', name: 'look' } }],
  events: [{ k: 'tool_completed', i: 1, e: 0 }],
  then_events: [{ k: 'llm_started', i: 2 }],
  state: { phase: 'llm' },
  iteration: 2,
  round: 1,
  outcomes: [{ status: 'ok', attempts: 1, duration_ms: 1 }],
  results_at: 0,
  drain: true,
};
const answers = {
  entries: [{ role: 'assistant', payload: { content: 'Done.' } }],
  events: [],
  state: { phase: 'llm' },
  iteration: 2,
  finish: { status: 'completed', reason: 'final_answer' },
  continue: { state: { phase: 'llm' }, iteration: 3, events: [] },
};

const send = async (log: TestLog, [name, threadId, args]: Call): Promise<unknown> => {
  try {
    return await callFunction(log.db, ...named(name, threadId, args));
  } catch (error) {
    return { code: (error as { code: string }).code, message: (error as Error).message };
  }
};

const thread = fc.constantFrom('t1', 't2', 't3', 't4');
const run = fc.constantFrom('r1', 'r2');
const claimed = {
  worker_id: 'w',
  lease_ms: 60_000,
  config_fingerprint: 'x',
  agent_version: 'v_1',
  max_claims_without_progress: 5,
  alone: false,
};
const call: fc.Arbitrary<(round: number) => Call> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        thread,
        run,
        fc.constantFrom('Be kind.', null),
        fc.constantFrom<object>({}, { prompt: 'Think.' }),
        fc.constantFrom('react', 'tot'),
      )
      .map(
        ([t, r, prompt, options, known]) =>
          (n: number) =>
            enqueue(`${t}-${n}`, r, { options, claim: { ...claimed, prompt, strategies: [known] } }),
      ),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(thread, run, fc.constantFrom('wait', 'reject')).map(
      ([t, r, busy]) =>
        (n: number) =>
          enqueue(`${t}-${n}`, r, { busy }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(thread, run).map(
      ([t, r]) =>
        (n: number) =>
          enqueue(`${t}-${n}`, r, { request_hash: 'bb' }),
    ),
  },
  { weight: 1, arbitrary: thread.map((t) => (n: number) => enqueue(`${t}-${n}`, 'r1', { create_thread: false })) },
  {
    weight: 4,
    arbitrary: fc.tuple(thread, run).map(
      ([t, r]) =>
        (n: number) =>
          claim(`${t}-${n}`, r),
    ),
  },
  {
    weight: 6,
    arbitrary: fc
      .tuple(
        ...([thread, run, fc.nat(2), fc.constantFrom(asks, results, answers), fc.constantFrom(1, 1, 1, 2)] as const),
        // a trace that these steps fill, one that they do not, and the default
        fc.constantFrom({}, {}, { max_events: 3 }, { max_events: 100 }),
      )
      .map(([t, r, step, body, lease, more]) => (n: number): Call => [
        'commit_step',
        `${t}-${n}`,
        [r, lease, step, 60_000, { ...body, ...more }],
      ]),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(thread, run, fc.boolean())
      .map(([t, r, ended]) => (n: number): Call => [
        'record_tool_call',
        `${t}-${n}`,
        [
          r,
          1,
          60_000,
          1,
          0,
          ended ? { status: 'ok', attempts: 1, outcome: { content: 'seen' } } : { status: 'started', attempts: 1 },
        ],
      ]),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(thread, fc.constantFrom('i1', 'i2'))
      .map(([t, id]) => (n: number): Call => [
        'enqueue_input',
        `${t}-${n}`,
        [{ id, kind: 'steer', source: 'test', content: 'left' }],
      ]),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(thread, fc.constantFrom('user', 'tool'))
      .map(([t, role]) => (n: number): Call => [
        'append_entries',
        `${t}-${n}`,
        [[{ kind: 'ai_message', payload: { role, content: 'hello' } }], {}],
      ]),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(thread, run)
      .map(([t, r]) => (n: number): Call => [
        'finish_run',
        `${t}-${n}`,
        [r, 1, { status: 'failed', reason: 'error', error: { type: 'x', message: 'y' } }],
      ]),
  },
);

/** Everything in the tables but times and random secrets. */
async function contents(log: TestLog): Promise<string[]> {
  const tables = await rows<{ name: string; columns: string }>(
    log.db,
    `select table_name as name, string_agg(format('%I', column_name), ', ' order by ordinal_position) as columns
     from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
     where table_schema = 'lanefold' and table_type = 'BASE TABLE' and data_type not like 'timestamp%' group by 1`,
  );
  expect(tables.length).toBeGreaterThan(8);
  const all: string[] = [];
  for (const { name, columns } of tables) {
    const found = await rows(log.db, `select to_jsonb(x) as row from (select ${columns} from lanefold.${name}) x`);
    all.push(
      ...found.map((row) =>
        withoutTimes(`${name} ${JSON.stringify(row)}`).replaceAll(/whsec_[A-Za-z0-9+/=]+/g, 'whsec_'),
      ),
    );
  }
  return all.toSorted();
}

const withoutTimes = (text: string): string =>
  text
    .replaceAll(/"(at_ms|queued_ms)":\d+/g, '"$1":0')
    .replaceAll(/"(created_at|started_at|finished_at|timestamp)":"[^"]+"/g, '"$1":""');

test.skipIf(citusLacks.batches)('a batch leaves the rows and answers of its calls one by one', async () => {
  let round = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(call, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 8 }),
      async (batches) => {
        round += 1;
        for (const batch of batches) {
          const calls = batch.map((make) => make(round));
          const together = await Promise.all(calls.map((one) => send(batching, one)));
          const oneByOne: unknown[] = [];
          for (const one of calls) oneByOne.push(await send(single, one));
          expect(withoutTimes(JSON.stringify(together))).toBe(withoutTimes(JSON.stringify(oneByOne)));
        }
      },
    ),
    { numRuns: cases(8) },
  );
  expect(statements.some((functions) => functions.length > 5)).toBe(true);
  expect(await contents(batching)).toEqual(await contents(single));
});

const steps = (threadId: string, lane?: string): Call[] => [
  enqueue(threadId, 'r1', lane === undefined ? {} : { context_ref: lane, tenant_id: 'sealed' }),
  claim(threadId, 'r1'),
  ...[asks, results, answers].map((body, i): Call => ['commit_step', threadId, ['r1', 1, i, 60_000, body]]),
];

test.skipIf(citusLacks.batches)(
  'whole runs in batches leave the rows and answers of runs one by one, and chains that hold',
  async () => {
    const threads = [steps('whole1'), steps('whole2'), steps('sealed1', 'side'), steps('sealed2', 'side')];
    for (const { db } of [batching, single])
      await rows(db, `select lanefold.configure_tenant('sealed', '{"chained": true}')`);
    for (const i of threads[0]!.keys()) {
      const together = await Promise.all(threads.map((calls) => send(batching, calls[i]!)));
      const oneByOne: unknown[] = [];
      for (const calls of threads) oneByOne.push(await send(single, calls[i]!));
      expect(withoutTimes(JSON.stringify(together))).toBe(withoutTimes(JSON.stringify(oneByOne)));
    }
    // hashes contain times
    const rowsOf = async (log: TestLog) =>
      (await contents(log)).map((row) => row.replaceAll(/"hash": ?"[^"]*"/g, '')).toSorted();
    expect(await rowsOf(batching)).toEqual(await rowsOf(single));
    for (const id of ['sealed1', 'sealed2'])
      expect(await rows(batching.db, `select * from lanefold.verify_thread('${id}')`)).toEqual([]);
  },
);

/** The items of a batch, as JSON. */
const batchOf = (calls: Call[]) =>
  JSON.stringify(calls.map(([name, threadId, args]) => ({ thread_id: threadId, function: name, args })));

test.skipIf(citusLacks.batches)('a call that ends a run brings it back, together with others or alone', async () => {
  for (const count of [1, 3]) {
    const threads = Array.from({ length: count }, (_, n) => `ends-${count}-${n}`);
    const each = (calls: (threadId: string) => Call) =>
      Promise.all(
        threads.map((threadId) => {
          const [name, id, args] = calls(threadId);
          return callFunction<{ run?: object }>(batching.db, ...named(name, id, args, 'r'));
        }),
      );
    await Promise.all(threads.map((threadId) => send(batching, enqueue(threadId, 'r'))));
    await Promise.all(threads.map((threadId) => send(batching, claim(threadId, 'r'))));
    const ended = await each((threadId) => ['commit_step', threadId, ['r', 1, 0, 60_000, answers]]);
    expect(statements.at(-1)).toEqual(threads.map(() => 'commit_step'));
    for (const [n, { run }] of ended.entries()) {
      expect(run).toMatchObject({ thread_id: threads[n], status: 'completed', result: 'Done.' });
      expect(run).toEqual(await value(batching.db, 'select lanefold.read_run($1, $2)', threads[n], 'r'));
    }
  }
});

test.skipIf(citusLacks.batches)('what is not plain is left to the function of one call', async () => {
  const taken = async (name: string, calls: Call[]) =>
    (
      await rows<{ place: number }>(batching.db, `select place from lanefold.${name}($1) order by 1`, batchOf(calls))
    ).map(({ place }) => place);
  const [request] = steps('unplain');
  const twice = [enqueue('twice', 'r1'), enqueue('twice', 'r2')];
  expect(
    await taken('_plain_requests', [enqueue('plain', 'r1'), enqueue('unplain', 'r1', { new_key: 1 }), ...twice]),
  ).toEqual([1]);
  expect(await taken('_plain_requests', [enqueue('plain', 'r2'), enqueue('late', 'r1', { delay_ms: 1 })])).toEqual([]);
  await send(batching, request!);
  const other: Call = [
    'claim_run',
    'unplain',
    ['r1', 1, { ...(claim('unplain', 'r1')[2][2] as object), repeated: true }],
  ];
  expect(await taken('_plain_claims', [claim('plain', 'r1'), other, claim('twice', 'r1')])).toEqual([1]);
  await send(batching, claim('unplain', 'r1'));
  const step = (threadId: string, body: object): Call => ['commit_step', threadId, ['r1', 1, 0, 60_000, body]];
  expect(await taken('_plain_steps', [step('unplain', { ...asks, seal: true }), step('plain', asks)])).toEqual([2]);
  await rows(batching.db, `select lanefold.cancel_run('unplain', 'r1', 'x')`);
  expect(await taken('_plain_steps', [step('unplain', asks)])).toEqual([]);
});

/** Another session's transaction, which stays open. */
async function holding<T>(text: string, values: unknown[], work: (end: () => Promise<void>) => Promise<T>): Promise<T> {
  const holder = new pg.Client({ connectionString: batching.url });
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query(text, values);
    return await work(async () => void (await holder.query('commit')));
  } finally {
    await holder.end();
  }
}

const accepted = { duplicate: false };

test.skipIf(citusLacks.batches)(
  'a thread that somebody else has locked is left out and called alone; its neighbours do not wait',
  async () => {
    for (const id of ['held', 'n1', 'n2']) await send(batching, enqueue(id, 'r1'));
    await holding('select from lanefold.thread where id = $1 for update', ['held'], async (end) => {
      let done = false;
      const held = send(batching, claim('held', 'r1')).finally(() => (done = true));
      const others = await Promise.all(
        [claim('n1', 'r1'), claim('n2', 'r1'), enqueue('n3', 'r1')].map((one) => send(batching, one)),
      );
      expect(others).toMatchObject([{ claimed: true }, { claimed: true }, accepted]);
      expect(done).toBe(false);
      await end();
      expect(await held).toMatchObject({ claimed: true });
    });
    expect(statements).toContainEqual(['claim_run', 'claim_run', 'claim_run', 'enqueue_run']);
  },
);

test('so is a thread that somebody else is creating', async () => {
  const [, , args] = enqueue('unborn', 'r1');
  await holding('select lanefold.enqueue_run($1, $2)', ['unborn', args[0]], async (end) => {
    const again = send(batching, enqueue('unborn', 'r1'));
    expect(await send(batching, enqueue('born', 'r1'))).toMatchObject(accepted);
    await end();
    expect(await again).toMatchObject({ run_id: 'r1', duplicate: true });
  });
});

test('a call that no database can take fails alone', async () => {
  const calls = [enqueue('p1', 'r1'), enqueue('p2', 'r1', { input: { content: 'a\u0000b' } }), enqueue('p3', 'r1')];
  const [first, poison, last] = await Promise.all(calls.map((one) => send(batching, one)));
  expect([first, last]).toMatchObject([accepted, accepted]);
  expect(poison).toMatchObject({ message: expect.stringContaining('Unicode') as string });
  expect(await value(batching.db, `select count(*)::int from lanefold.thread where id like 'p_'`)).toBe(2);
});

test.skipIf(citusLacks.batches)('a batch that breaks in the middle has written nothing', async () => {
  const db = openDatabase({ url: batching.url, max: 2 });
  await batching.pool.query(`
    create function die() returns trigger language plpgsql security definer as
      'begin perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(60); return null; end';
    create trigger die after insert on lanefold._run for each row when (new.id = 'deadly') execute function die()`);
  const ends = await Promise.allSettled(
    [enqueue('b1', 'r1'), enqueue('b2', 'deadly'), enqueue('b3', 'r1')].map(([name, id, args]) =>
      callFunction(db, ...named(name, id, args)),
    ),
  );
  expect(ends.map((end) => end.status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(await value(batching.db, `select count(*)::int from lanefold.thread where id like 'b_'`)).toBe(0);
  await batching.pool.query('drop trigger die on lanefold._run');
  await db.close();
});

/** A call with its arguments in the order of the function. */
function named(name: BatchedFunction, threadId: string, args: readonly unknown[], ends?: string): BatchedCall {
  const given = databaseFunctions[name].takes.map((argument, i) => [argument, [threadId, ...args][i]]);
  return [name, Object.fromEntries(given), ends] as BatchedCall;
}
