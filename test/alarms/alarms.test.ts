// @module-tag slow
import { APICallError, type LanguageModelV4Prompt } from '@ai-sdk/provider';
import { createLanefold, defineAgent, type Lanefold } from 'lanefold';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { fakeModel } from '../support/fake-model.ts';
import { noRedis, startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { until } from '../support/until.ts';
import { startReceiver, type Receiver } from '../webhooks/receiver.ts';

const lastText = (prompt: LanguageModelV4Prompt): string => JSON.stringify(prompt.at(-1)!.content);

describe.skipIf(noRedis())('an alarm, with two workers', () => {
  let lanefold: TestLanefold;
  let other: Lanefold;
  let receiver: Receiver;
  beforeAll(async () => {
    const model = fakeModel(({ prompt }) => {
      if (lastText(prompt).includes('fail'))
        throw new APICallError({ message: 'Refused.', url: 'x', requestBodyValues: {}, statusCode: 400 });
      return { text: 'Done.' };
    });
    lanefold = await startLanefold({
      privateWebhooks: true,
      models: { 'fake:m': model },
      agents: ['support', 'billing'].map((name) => defineAgent({ name, model: 'fake:m' })),
    });
    receiver = await startReceiver();
    other = await createLanefold(lanefold.options);
    for (const one of [lanefold, other]) await one.startWorker({ sweepMs: 100 });
    await lanefold.webhooks.set('pager', { url: `${receiver.url}/pager`, types: ['alarm.raised', 'alarm.cleared'] });
  });
  afterEach(async () => {
    for (const { name, tenant } of await lanefold.alarms.list()) await lanefold.alarms.remove(name, { tenant });
  });
  afterAll(async () => {
    await other?.close();
    await lanefold?.close();
    await receiver?.close();
  });

  const ask = async (input: string, agent = 'support', on: Pick<Lanefold, 'runs'> = lanefold) =>
    on.runs.wait(await on.runs.enqueue({ agent, input }));
  const told = (name: string) =>
    receiver
      .at('/pager')
      .flatMap(({ event, headers }) => (event.data['alarm'] === name ? [{ ...event, id: headers['webhook-id'] }] : []));
  const turns = (name: string) => [...new Map(told(name).map((one) => [one.id, one.type])).values()];
  const get = (name: string, tenant = 'default') => lanefold.alarms.get(name, { tenant });
  /** Both workers have counted after this. */
  const counted = async (name: string, times = 3) => {
    for (let no = 0; no < times; no++) {
      const { countedAt } = await get(name);
      await until(`${name} is counted`, async () => ((await get(name)).countedAt ?? 0) > (countedAt ?? 0));
    }
  };

  test('is raised once when more runs match than it allows, and cleared once', async () => {
    await lanefold.alarms.set('failures', {
      filter: { status: 'failed', agent: 'support' },
      moreThan: 2,
      clearAfterMs: 0,
    });
    await Promise.all(['fail', 'fail', 'fine'].map((input) => ask(input)));
    await ask('fail', 'billing');
    await until('two are counted', async () => (await get('failures')).runs === 2);
    expect((await get('failures')).raisedAt).toBeNull();
    const last = await ask('fail');
    await until('it is raised', async () => (await get('failures')).raisedAt !== null);
    await until('the pager was told', () => told('failures').length > 0);
    expect(told('failures')[0]).toMatchObject({
      type: 'alarm.raised',
      data: {
        alarm: 'failures',
        filter: { status: 'failed', agent: 'support' },
        within_ms: 600_000,
        more_than: 2,
        runs: 3,
      },
    });
    const { newest } = told('failures')[0]!.data as { newest: unknown[] };
    expect(newest).toHaveLength(3);
    expect(newest[0]).toEqual({ thread_id: last.threadId, run_id: last.id });
    await counted('failures');
    expect(turns('failures')).toEqual(['alarm.raised']);
    // as if the ten minutes were over
    await lanefold.database.pool.query("update lanefold._run set created_at = created_at - interval '1 hour'");
    await until('it is cleared', async () => (await get('failures')).raisedAt === null);
    await until('the pager was told of that', () => turns('failures').length === 2);
    await counted('failures');
    expect(turns('failures')).toEqual(['alarm.raised', 'alarm.cleared']);
    expect(told('failures').at(-1)!.data).toMatchObject({ because: 'fewer', runs: 0 });
    const counts = await lanefold.alarms.counts('failures');
    expect(Math.max(...counts.map(({ runs }) => runs))).toBe(3);
    expect(counts.some(({ raised }) => raised)).toBe(true);
  });

  test('of a share is raised by the share of the runs of its agent', async () => {
    const [failed, fine] = [Array(3).fill('fail'), Array(3).fill('fine')] as [string[], string[]];
    await Promise.all([...failed, ...fine].map((input) => ask(input, 'billing')));
    await lanefold.alarms.set('half', { filter: { status: 'failed', agent: 'billing' }, moreThan: 2, share: 0.6 });
    await until('it is counted', async () => (await get('half')).allRuns === 6);
    expect(await get('half')).toMatchObject({ runs: 3, raisedAt: null });
    await Promise.all(failed.map((input) => ask(input, 'billing')));
    await until('it is raised', async () => (await get('half')).raisedAt !== null);
    expect(await get('half')).toMatchObject({ runs: 6, allRuns: 9 });
  });

  test.each([
    ['changed', () => lanefold.alarms.set('by-hand', { filter: { status: 'failed' }, moreThan: 9_999 })],
    ['paused', () => lanefold.alarms.pause('by-hand')],
    ['removed', () => lanefold.alarms.remove('by-hand')],
  ])('that is %s while it is raised is cleared, which says so', async (because, act) => {
    await ask('fail');
    await lanefold.alarms.set('by-hand', { filter: { status: 'failed' } });
    await lanefold.alarms.resume('by-hand');
    await until('it is raised', async () => (await get('by-hand')).raisedAt !== null);
    await act();
    // two workers may tell it before that the alarm was raised
    await until('the pager was told', () => told('by-hand').some(({ data }) => data['because'] === because));
    if (because === 'removed') return;
    expect((await get('by-hand')).raisedAt).toBeNull();
    await lanefold.alarms.remove('by-hand');
  });

  test('that is paused counts nothing until it is resumed', async () => {
    await lanefold.alarms.set('quiet', { filter: { agent: 'support' } });
    await lanefold.alarms.pause('quiet');
    const { countedAt, pausedAt } = await get('quiet');
    expect(pausedAt).not.toBeNull();
    await ask('fine');
    await lanefold.alarms.set('beside', { filter: { agent: 'support' } });
    await until('the other one is counted', async () => (await get('beside')).runs !== null);
    expect((await get('quiet')).countedAt).toEqual(countedAt);
    await lanefold.alarms.resume('quiet');
    await until('it is raised', async () => (await get('quiet')).raisedAt !== null);
  });

  test('counts the runs of its tenant alone, and another one neither sees nor changes it', async () => {
    const [acme, bolt] = [lanefold.forTenant('acme'), lanefold.forTenant('bolt')];
    await acme.alarms.set('own', { filter: { agent: 'support' } });
    await bolt.alarms.set('own', { filter: { agent: 'support' } });
    await ask('fine', 'support', acme);
    await until('it is raised', async () => (await acme.alarms.get('own')).raisedAt !== null);
    await until('the other one is counted', async () => (await bolt.alarms.get('own')).countedAt !== null);
    await until('and again', async () => (await bolt.alarms.counts('own')).length > 0);
    expect(await bolt.alarms.get('own')).toMatchObject({ runs: 0, raisedAt: null });
    await acme.alarms.set('secret', { filter: {} });
    for (const act of ['get', 'remove', 'pause', 'resume', 'counts'] as const)
      await expect(bolt.alarms[act]('secret')).rejects.toMatchObject({ code: 'alarm_not_found' });
    expect((await bolt.alarms.list()).map(({ tenant }) => tenant)).toEqual(['bolt']);
  });

  test.each([
    [{ filter: { threadId: 't' } }, 'filter'],
    [{ filter: { createdAfter: new Date() } }, 'filter'],
    [{ filter: {}, moreThan: -1 }, 'moreThan'],
    [{ filter: {}, share: 1 }, 'share'],
    [{ filter: {}, withinMs: 1_000 }, 'withinMs'],
    [{}, 'filter'],
  ])('%j is refused, and %s named', async (definition, field) => {
    await expect(lanefold.alarms.set('bad', definition as never)).rejects.toMatchObject({
      code: 'invalid_input',
      details: { field: expect.stringContaining(field) as string },
    });
  });
});
