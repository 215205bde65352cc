// @module-tag slow
import { createLanefold, defineAgent, type Lanefold, type LanefoldError } from 'lanefold';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { caller, problem, startApi, type Api } from './helpers.ts';
import { fakeModel } from '../support/fake-model.ts';
import { expectSound } from '../support/log.ts';
import { deferred, until } from '../support/until.ts';

let api: Api;
let calling = deferred();
let answered = deferred();
let logged: unknown[] = [];
const model = fakeModel(async () => {
  calling.resolve();
  await answered.promise;
  return { text: 'done' };
});
beforeAll(async () => {
  api = await startApi({
    agents: [defineAgent({ name: 'slow', model: 'fake' })],
    models: { fake: model },
    server: { onError: (error, { method, path }) => logged.push([(error as LanefoldError).code, method, path]) },
  });
  await api.call('POST', '/v1/threads', { id: 't' });
  // a statement fails with the SQLSTATE that the table names
  await api.lanefold.database.pool.query(`
    create table public.fault (sqlstate text);
    create sequence public.failures;
    create function public.fail() returns trigger language plpgsql security definer as $$ begin
      if exists (select from public.fault) then
        perform nextval('public.failures');
        raise exception using errcode = (select sqlstate from public.fault), message = 'injected';
      end if;
      return new;
    end $$;
    create trigger fail before insert or update on lanefold.thread for each row execute function public.fail()`);
});
afterAll(() => api?.close());

const failWith = (sqlstate: string) => api.lanefold.database.pool.query('insert into fault values ($1)', [sqlstate]);
const heal = () => api.lanefold.database.pool.query('truncate fault');

/** The API again, whose waits for locks in the database, not in the queue, end after 50 ms. */
async function impatientApi(): Promise<{ call: Api['call']; lanefold: Lanefold }> {
  const { url: directUrl } = api.lanefold.database;
  const url = new URL(directUrl);
  url.searchParams.set('options', '-c lock_timeout=50');
  const lanefold = await createLanefold({ ...api.lanefold.options, databaseUrl: url.href, directUrl });
  onTestFinished(() => lanefold.close());
  const server = await lanefold.startServer({ port: 0, onError: () => {} });
  return { call: caller(server.url), lanefold };
}

async function lockThread(): Promise<void> {
  const holder = new pg.Client({ connectionString: api.lanefold.database.url });
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query("begin; select 1 from lanefold.thread where id = 't' for update");
}

const message = { role: 'user' as const, content: 'x' };
const append = { entries: [{ kind: 'ai_message', context_ref: 'default', payload: message }] };

test.each([
  ['58P01', 'database_error'],
  ['XX000', 'database_error'],
  ['23514', 'database_error'],
  ['53200', 'database_error'],
  ['40P01', 'database_error'],
  ['57014', 'database_timeout'],
  ['55P03', 'thread_locked'],
  ['25006', 'database_unreachable'],
])('a statement that fails with %s is %s, never internal', async (sqlstate, code) => {
  await failWith(sqlstate);
  onTestFinished(async () => void (await heal()));
  const answer = await api.call('POST', '/v1/threads/t/entries', append);
  expect(answer).toMatchObject(problem(503, code));
  expect(answer.headers.get('retry-after')).toBe('1');
  await expect(api.lanefold.threads.append('t', [{ message }])).rejects.toMatchObject({
    name: 'LanefoldError',
    code,
    hint: expect.stringMatching(/written/),
    ...(code === 'database_error' ? { message: expect.stringContaining(sqlstate), details: { sqlstate } } : {}),
  });
});

test('a batch that the database fails as a whole fails; in any other the server reports each of its errors once', async () => {
  await failWith('58P01');
  onTestFinished(async () => void (await heal()));
  const run = { agent: 'slow', input: 'x' };
  logged = [];
  expect(await api.call('POST', '/v1/runs', { runs: [run, run] })).toMatchObject(problem(503, 'database_error'));
  expect(logged).toEqual([['database_error', 'POST', '/v1/runs']]);
  logged = [];
  const { status, body } = await api.call('POST', '/v1/runs', { runs: [run, { ...run, agent: 'nobody' }, run] });
  expect(status).toBe(202);
  expect((body as { data: { problem: { code: string } }[] }).data.map((one) => one.problem.code)).toEqual([
    'database_error',
    'unknown_agent',
    'database_error',
  ]);
  expect(logged).toEqual([['database_error', 'POST', '/v1/runs']]);
});

test('a thread that another transaction holds is thread_locked once lock_timeout is over, and the error names it', async () => {
  const { call, lanefold } = await impatientApi();
  await lockThread();
  expect(await call('POST', '/v1/threads/t/entries', append)).toMatchObject(problem(503, 'thread_locked'));
  await expect(lanefold.threads.append('t', [{ message }])).rejects.toMatchObject({
    message: 'Thread t is locked by another transaction.',
  });
});

test.each(['58P01', '57014', '25006', 'XX001', '40001'])(
  'a run whose commits fail with %s for a while continues where it was',
  async (sqlstate) => {
    [calling, answered] = [deferred(), deferred()];
    const run = await api.lanefold.runs.enqueue({ agent: 'slow', input: 'go' });
    await calling.promise;
    const failures = async () =>
      Number((await api.lanefold.database.pool.query('select last_value from failures')).rows[0].last_value);
    const before = await failures();
    const calls = model.calls.length;
    await failWith(sqlstate);
    answered.resolve();
    await until('two commits have failed', async () => (await failures()) >= before + 2);
    await heal();
    expect(await api.lanefold.runs.wait(run)).toMatchObject({ status: 'completed' });
    // not dropped and claimed again
    expect(model.calls.length).toBe(calls);
    await expectSound(api.lanefold, run.threadId);
  },
);
