// @module-tag slow
import { spawn } from 'node:child_process';
import { APICallError } from '@ai-sdk/provider';
import { createLanefold, defineAgent, defineTool, waitFor, type Lanefold } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { fakeModel } from '../support/fake-model.ts';
import { noRedis, startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { until } from '../support/until.ts';

const program = `
  import { createLanefold, defineAgent } from ${JSON.stringify(new URL('../../src/index.ts', import.meta.url).href)};
  const [databaseUrl, redisUrl, queuePrefix, before, key] = JSON.parse(process.env.GIVEN);
  const agents = [defineAgent({ name: 'bulk', model: 'scripted:echo' })];
  const lanefold = await createLanefold({ databaseUrl, redisUrl, queuePrefix, agents });
  await lanefold.runs.retryMany({ agent: 'bulk', createdBefore: new Date(before) }, { requestId: key, limit: 1000 });
  await lanefold.close();
`;

describe.skipIf(noRedis())('the runs that a filter selects', () => {
  let lanefold: TestLanefold;
  let worker: Lanefold;
  let answers = true;
  beforeAll(async () => {
    const model = fakeModel(() => {
      if (!answers) throw new APICallError({ message: 'Refused.', url: 'x', requestBodyValues: {}, statusCode: 400 });
      return { text: 'Done.' };
    });
    const tools = [
      defineTool({ name: 'pay', input: z.object({}), needsApproval: true, execute: () => 'paid' }),
      defineTool({ name: 'listen', input: z.object({}), execute: () => waitFor('bell') }),
    ];
    lanefold = await startLanefold({
      models: { 'fake:m': model },
      agents: [
        ...['support', 'billing'].map((name) => defineAgent({ name, model: 'fake:m' })),
        ...['idle', 'stock'].map((name) => defineAgent({ name, model: 'scripted:echo' })),
        defineAgent({ name: 'payer', model: 'scripted:[{"tool":"pay"},"done"]', tools }),
        defineAgent({ name: 'listener', model: 'scripted:[{"tool":"listen"},"done"]', tools }),
        defineAgent({ name: 'bulk', model: 'scripted:echo' }),
      ],
    });
    worker = await createLanefold(lanefold.options);
    await worker.startWorker({ sweepMs: 200 });
  });
  afterAll(async () => {
    await worker?.close();
    await lanefold?.close();
  });

  const later = (agent: string, more = {}) =>
    lanefold.runs.enqueue({ agent, input: 'later', delayMs: 3_600_000, ...more });
  const failed = async (count: number, more = {}) => {
    answers = false;
    const runs = await Promise.all(
      Array.from({ length: count }, () => lanefold.runs.enqueue({ agent: 'support', input: 'hi', ...more })),
    );
    const ended = await Promise.all(runs.map((run) => lanefold.runs.wait(run)));
    answers = true;
    return ended;
  };
  const suspended = async (agent: string) => {
    const run = await lanefold.runs.enqueue({ agent, input: 'go' });
    await until('its call waits', async () => (await lanefold.runs.get(run)).status === 'suspended');
    return run;
  };
  const ids = (runs: readonly { id: string }[]) => runs.map(({ id }) => id).sort();

  test('are counted in a preview, which changes nothing, and cancelled; later ones are left alone', async () => {
    const runs = await Promise.all(Array.from({ length: 7 }, () => later('idle')));
    const other = await later('stock');
    const preview = await lanefold.runs.cancelMany({ agent: 'idle' }, { dryRun: true });
    expect(preview).toMatchObject({ dryRun: true, matched: 7, left: 7, nextAfter: null });
    expect(preview.runs).toHaveLength(5);
    expect(preview.runs.every(({ outcome }) => outcome === null)).toBe(true);
    const appeared = await later('idle');
    const filter = { agent: 'idle', createdBefore: preview.createdBefore };
    const first = await lanefold.runs.cancelMany(filter, { limit: 4, reason: 'outage' });
    expect(first).toMatchObject({ dryRun: false, matched: 7, left: 3 });
    const rest = await lanefold.runs.cancelMany(filter, { limit: 4, after: first.nextAfter! });
    expect(rest).toMatchObject({ left: 0, nextAfter: null });
    expect(ids([...first.runs, ...rest.runs])).toEqual(ids(runs));
    expect([...first.runs, ...rest.runs].every(({ outcome }) => outcome === 'done')).toBe(true);
    for (const run of runs) expect((await lanefold.runs.get(run)).status).toBe('cancelled');
    for (const run of [appeared, other]) expect((await lanefold.runs.get(run)).status).toBe('queued');
    expect(await lanefold.runs.cancelMany(filter)).toMatchObject({ matched: 0, runs: [] });
  });

  test('are acted on only after a preview', async () => {
    const refused = lanefold.runs.cancelMany({ agent: 'idle' });
    await expect(refused).rejects.toMatchObject({
      code: 'invalid_input',
      details: { field: 'filter.createdBefore' },
    });
    await expect(lanefold.runs.cancelMany({ thread: 'x' } as never)).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('are retried, each once however often the request is repeated; a refused one stops no other', async () => {
    await lanefold.threads.create({ id: 'occupied' });
    const runs = await failed(3);
    const [blocked] = await failed(1, { threadId: 'occupied' });
    await later('support', { threadId: 'occupied' });
    const { createdBefore, matched } = await lanefold.runs.retryMany({ status: 'failed' }, { dryRun: true });
    expect(matched).toBe(4);
    const filter = { status: 'failed', createdBefore } as const;
    const once = await lanefold.runs.retryMany(filter, { requestId: 'outage-1' });
    const outcomeOf = new Map(once.runs.map((run) => [run.id, run]));
    expect(outcomeOf.get(blocked!.id)).toMatchObject({ outcome: 'refused', error: { code: 'thread_busy' } });
    for (const { id } of runs) expect(outcomeOf.get(id)).toMatchObject({ outcome: 'done' });
    const again = await lanefold.runs.retryMany(filter, { requestId: 'outage-1' });
    for (const { id } of runs)
      expect(again.runs.find((run) => run.id === id)).toMatchObject({
        outcome: 'unchanged',
        started: outcomeOf.get(id)!.started,
      });
    for (const { id, threadId } of runs) {
      const { data } = await lanefold.runs.list({ threadId });
      expect(data.filter(({ retryOf }) => retryOf === id)).toHaveLength(1);
    }
  });

  test('are released: their calls are approved, denied or resolved, and those that began to wait later are not', async () => {
    const payers = [await suspended('payer'), await suspended('payer')];
    const listener = await suspended('listener');
    const { createdBefore, matched } = await lanefold.runs.releaseMany({ status: 'suspended' }, { dryRun: true });
    expect(matched).toBe(3);
    const late = await suspended('listener');
    const filter = { createdBefore };
    const waiting = await lanefold.runs.releaseMany(filter, { result: { rung: true } });
    expect(new Map(waiting.runs.map(({ id, outcome }) => [id, outcome]))).toEqual(
      new Map([...payers.map(({ id }) => [id, 'unchanged'] as const), [listener.id, 'done'] as const]),
    );
    const approved = await lanefold.runs.releaseMany({ ...filter, agent: 'payer' }, { decision: 'approve', by: 'ada' });
    expect(approved.runs.map(({ outcome }) => outcome)).toEqual(['done', 'done']);
    for (const run of [...payers, listener]) expect((await lanefold.runs.wait(run)).result).toBe('done');
    expect((await lanefold.runs.get(late)).status).toBe('suspended');
    expect((await lanefold.runs.get(listener)).toolCalls[0]!.result).toBe('{"rung":true}');
    await lanefold.runs.cancel(late);
  });

  test('are kept as cases, those that a dataset has already as well', async () => {
    const asked = await Promise.all(['a', 'b'].map((input) => lanefold.runs.enqueue({ agent: 'billing', input })));
    for (const run of asked) await lanefold.runs.wait(run);
    const [first] = asked;
    const { id } = await lanefold.cases.keep({ threadId: first!.threadId, runId: first!.id, dataset: 'd' });
    const { createdBefore } = await lanefold.cases.keepMany({ agent: 'billing' }, 'd', { dryRun: true });
    const kept = await lanefold.cases.keepMany({ agent: 'billing', createdBefore }, 'd', { tags: ['outage'] });
    const byRun = new Map(kept.runs.map((run) => [run.id, run]));
    expect(byRun.get(first!.id)).toMatchObject({ outcome: 'unchanged', caseId: id });
    expect(byRun.get(asked[1]!.id)).toMatchObject({ outcome: 'done' });
    expect((await lanefold.cases.list({ dataset: 'd', tag: 'outage' })).data).toHaveLength(1);
  });

  test('of another tenant are neither found nor changed', async () => {
    const acme = lanefold.forTenant('acme');
    const run = await acme.runs.enqueue({ agent: 'stock', input: 'later', delayMs: 3_600_000 });
    const bolt = lanefold.forTenant('bolt').runs;
    const { createdBefore, matched } = await bolt.cancelMany({ agent: 'stock' }, { dryRun: true });
    expect(matched).toBe(0);
    expect((await bolt.cancelMany({ createdBefore })).runs).toEqual([]);
    expect((await acme.runs.get(run)).status).toBe('queued');
  });

  test('are acted on once each if the process is killed amid them and the request repeated', async () => {
    const count = 40;
    const runs = await Promise.all(
      Array.from({ length: count }, (_, i) => lanefold.runs.enqueue({ agent: 'bulk', input: `${i}` })),
    );
    for (const run of runs) await lanefold.runs.wait(run);
    const { createdBefore } = await lanefold.runs.retryMany({ agent: 'bulk' }, { dryRun: true });
    const { databaseUrl, redisUrl, queuePrefix } = lanefold.options;
    const given = JSON.stringify([databaseUrl, redisUrl, queuePrefix, createdBefore, 'killed']);
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
      env: { ...process.env, GIVEN: given },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const gone = new Promise((resolve) => child.once('exit', resolve));
    const retried = async () => {
      const text = "select from lanefold.run where agent = 'bulk' and options ? 'retry_of'";
      return (await lanefold.database.pool.query(text)).rowCount!;
    };
    await until('some are retried', async () => (await retried()) > 0 || child.exitCode !== null);
    child.kill('SIGKILL');
    await gone;
    await until('what the killed process has sent is done', async () => {
      const text = `select from pg_stat_activity where datname = current_database() and state = 'active' and query ~ 'enqueue_run|attempts'
        and pid <> pg_backend_pid()`;
      return (await lanefold.database.pool.query(text)).rowCount === 0;
    });
    const before = await retried();
    expect(before).toBeGreaterThan(0);
    const repeated = await lanefold.runs.retryMany(
      { agent: 'bulk', createdBefore },
      { requestId: 'killed', limit: 1_000 },
    );
    expect(repeated.runs).toHaveLength(count);
    expect(repeated.runs.filter(({ outcome }) => outcome === 'unchanged')).toHaveLength(before);
    expect(await retried()).toBe(count);
    expect(new Set(repeated.runs.map(({ started }) => started)).size).toBe(count);
  });
});
