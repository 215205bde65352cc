import { defineAgent } from 'lanefold';
import { createClient, type Client } from 'lanefold/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bearer, mintKey, startApi, type Api } from '../api/helpers.ts';
import { refused } from '../db/helpers.ts';

import { until } from '../support/until.ts';

const agents = ['a', 'b'].map((name) => defineAgent({ name, model: 'scripted:["done"]?latency_ms=600000' }));

describe('the runs that hold limits', () => {
  let api: Api;
  let client: Client;
  const clientOf = {} as Record<'acme' | 'bolt', Client>;
  beforeAll(async () => {
    api = await startApi({ agents, server: { apiKey: 'root' } });
    client = createClient({ url: api.url, apiKey: 'root' });
    for (const tenant of ['acme', 'bolt'] as const) {
      const { auth } = await mintKey(api.call, bearer('root'), { scopes: ['read'], tenant });
      clientOf[tenant] = createClient({ url: api.url, apiKey: auth['authorization']!.replace(/^Bearer /, '') });
    }
    const { limits } = api.lanefold;
    await limits.set('slots', { kind: 'concurrency', amount: 2, scope: { agent: '*' } });
    await limits.set('tokens', { kind: 'tokens', amount: 1_000_000, per: 'hour' });
  });
  afterAll(() => api?.close());

  const start = (tenant: string, agent: string, id: string) =>
    api.lanefold.forTenant(tenant).runs.enqueue({ agent, input: 'hi', threadId: id, createThread: true });
  const holding = async (query: Parameters<Api['lanefold']['limits']['holders']>[0] = { name: 'slots' }) =>
    (await api.lanefold.limits.holders(query)).data;

  test('are listed with their worker, the longest first, page by page', async () => {
    expect(await holding()).toEqual([]);
    for (const [n, tenant] of ['acme', 'bolt', 'acme'].entries()) {
      await start(tenant, n === 2 ? 'b' : 'a', `t${n}`);
      await until('it works', async () => {
        const found = (await holding({})).filter(({ threadId }) => threadId === `t${n}`);
        return found.length === 2 && found.every(({ status }) => status === 'running');
      });
    }
    // it finds both slots of its agent taken
    const waiting = await start('acme', 'a', 'late');
    await until('it waits', async () => (await api.lanefold.runs.get(waiting))?.limitedBy != null);

    const held = await holding();
    const [worker] = await api.lanefold.workers.list();
    expect(held).toMatchObject(
      ['t0', 't1', 't2'].map((threadId) => ({
        name: 'slots',
        tenant: null,
        kind: 'concurrency',
        key: threadId === 't2' ? 'b' : 'a',
        amount: 1,
        threadId,
        agent: threadId === 't2' ? 'b' : 'a',
        status: 'running',
        workerId: worker!.id,
        since: expect.any(Date),
      })),
    );
    expect(await holding({ name: 'slots', key: 'b' })).toEqual([held[2]]);
    const reserved = await holding({ name: 'tokens' });
    expect(reserved.map(({ threadId }) => threadId)).toEqual(['t0', 't1', 't2']);
    for (const { amount } of reserved) expect(amount).toBeGreaterThanOrEqual(10);
    const { rows } = await api.lanefold.database.pool.query(
      `select u.reserved::int, (select sum(h.amount)::int from lanefold.limit_holder h where h.name = u.name and h.key = u.key) as held
       from lanefold.limit_usage u order by name, key`,
    );
    for (const row of rows as { reserved: number; held: number }[]) expect(row.held).toBe(row.reserved);

    for (const limit of [1, 2, 3, 6, 7]) {
      const all = [];
      for (let after: string | undefined; ;) {
        const page = await api.lanefold.limits.holders({ limit, ...(after === undefined ? {} : { after }) });
        all.push(...page.data);
        expect(page.data.length).toBeLessThanOrEqual(limit);
        if (page.nextAfter === null) break;
        after = page.nextAfter;
      }
      expect(all).toEqual(await holding({}));
      expect(all).toHaveLength(6);
    }
    await refused(api.lanefold.limits.holders({ after: 'nonsense' }), 'invalid_input');
  });

  test('are seen over HTTP, by a tenant only if they are its own', async () => {
    const ids = async (of: Client, name = 'slots') =>
      (await of.limits.holders(name)).data.map(({ threadId }) => threadId);
    expect(await ids(client)).toEqual(['t0', 't1', 't2']);
    expect(await ids(clientOf.acme)).toEqual(['t0', 't2']);
    expect(await ids(clientOf.bolt)).toEqual(['t1']);
    expect(await ids(client, 'nothing')).toEqual([]);
    expect(
      (await api.lanefold.forTenant('bolt').limits.holders({ name: 'slots' })).data.map(({ threadId }) => threadId),
    ).toEqual(['t1']);
    const first = await client.limits.holders('slots', { key: 'a', limit: 1 });
    expect(first.nextAfter).not.toBeNull();
    const second = await client.limits.holders('slots', { key: 'a', limit: 1, after: first.nextAfter! });
    expect([...first.data, ...second.data].map(({ threadId }) => threadId)).toEqual(['t0', 't1']);
    expect(second.nextAfter).toBeNull();
  });

  test('leave the keys of limits to pages, with what waits first', async () => {
    const [slots] = (await client.limits.list({ name: 'slots', limit: 1 })).data;
    expect(slots).toMatchObject({
      scope: { agent: '*' },
      usage: [{ key: 'a', used: 2, waiting: 1, waitingBy: null }],
    });
    const next = await client.limits.list({ after: slots!.nextAfter!, limit: 1 });
    expect(next.data).toMatchObject([{ name: 'slots', usage: [{ key: 'b', used: 1, waiting: 0 }] }]);
    const last = await client.limits.list({ after: next.data[0]!.nextAfter! });
    expect(last.data).toEqual([]);
  });

  test('hold nothing once they have ended', async () => {
    for (const threadId of ['t0', 't1', 't2', 'late']) {
      const [run] = (await api.lanefold.runs.list({ threadId })).data;
      await api.lanefold.runs.cancel(run!);
    }
    await until('all is given back', async () => (await holding({})).length === 0);
  });
});
