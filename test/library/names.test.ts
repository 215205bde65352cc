// @module-tag slow
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { contextHash, createLanefold, defineAgent, migrate } from 'lanefold';
import { mountMcp } from 'lanefold/mcp';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { derivedIds } from '../../src/base/checks/ids.ts';
import { bearer, caller } from '../api/helpers.ts';
import { newClient } from '../mcp/rig.ts';
import { unseen } from '../schedules/support.ts';
import { statements, urlAs } from '../support/citus.ts';
import { createDatabase } from '../support/database.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { until } from '../support/until.ts';

const agents = [defineAgent({ name: 'echo', model: 'scripted:echo', overridable: { http: ['contextPolicy'] } })];

describe('the names of two tenants', () => {
  let lanefold: TestLanefold;
  let url: string;
  const auth: Record<string, Record<string, string>> = {};
  const keyIds: Record<string, string> = {};
  beforeAll(async () => {
    lanefold = await startLanefold({ agents });
    await lanefold.startWorker();
    ({ url } = await lanefold.startServer({ port: 0, apiKey: 'root', onError: () => {}, mcp: mountMcp() }));
    for (const tenant of ['a', 'b']) {
      const { id, key } = await lanefold.keys.create({
        name: tenant,
        tenant,
        scopes: ['read', 'run', 'steer', 'admin'],
      });
      auth[tenant] = bearer(key);
      keyIds[tenant] = id;
    }
  });
  afterAll(() => lanefold?.close());

  const as = (tenant: string, method: string, to: string, body: unknown, headers = {}) =>
    caller(url)(method, to, body, { ...auth[tenant], ...headers });

  /** The only slot of its hourly schedule that has come: the next one is half an hour away. */
  const slot = Math.floor(Date.now() / 1_000) * 1_000 - 1_800_000;

  /** What a tenant asks for under a name of its own, through each door; the thread that it gets. */
  const doors: Record<string, (tenant: string, name: string) => Promise<string>> = {
    'runs over HTTP': async (tenant, name) => {
      const runs = [{ agent: 'echo', input: 'hi', request_id: name }];
      const { body } = await as(tenant, 'POST', '/v1/runs', { runs });
      return (body as { data: { run: { thread_id: string } }[] }).data[0]!.run.thread_id;
    },
    'runs of the library': async (tenant, name) => {
      const { threadId } = await lanefold
        .forTenant(tenant)
        .runs.enqueue({ agent: 'echo', input: 'hi', requestId: name });
      return threadId;
    },
    imports: async (tenant, name) => {
      const source = { format: 'openai', items: [{ role: 'user', content: 'hi' }] };
      const { body } = await as(tenant, 'POST', '/v1/threads/import', source, { 'idempotency-key': name });
      return (body as { id: string }).id;
    },
    reruns: async (tenant, name) => {
      const { runs } = lanefold.forTenant(tenant);
      const run = await runs.enqueue({ agent: 'echo', input: 'hi' });
      await runs.wait(run);
      return (await runs.rerun(run, { requestId: name })).threadId;
    },
    MCP: async (tenant, name) => {
      const client = await newClient(new URL('/mcp', url), { key: auth[tenant]!['authorization']!.split(' ')[1]! });
      const given = { agent: 'echo', message: 'hi', request_id: name };
      const { content } = await client.callTool({ name: 'lanefold_start_run', arguments: given });
      return (JSON.parse((content as { text: string }[])[0]!.text) as { thread_id: string }).thread_id;
    },
    cases: async (tenant, name) => {
      const messages = [{ role: 'user' as const, content: name }];
      const labels = { context_hash: contextHash(messages), agent: 'echo', model: 'scripted:echo', kind: 'call' };
      const { cases } = lanefold.forTenant(tenant);
      await cases.import(name, [JSON.stringify({ version: 1, messages, ...labels })]);
      return (await cases.list({ dataset: name })).data[0]!.threadId;
    },
    schedules: async (tenant, name) => {
      await lanefold.schedules.set(
        name,
        { agent: 'echo', everyMs: 3_600_000, input: 'hi', catchUp: 'all' },
        { tenant },
      );
      await unseen(lanefold, name, { count: 1, everyMs: 3_600_000, lastAt: slot, tenant });
      const settled = async () =>
        (await lanefold.schedules.slots(name, { tenant })).data.find(({ threadId }) => threadId);
      return (await until('the slot has fired', settled)).threadId!;
    },
  };

  const base32 = (hex: string) => BigInt(`0x${hex}`).toString(32).padStart(26, '0');
  const sha = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32);

  /** What tenant a can compute of the names of b: hashes of all that is said in public, and whatever its own key gives. */
  const guesses = async (name: string) => {
    const { rows } = await lanefold.database.pool.query<{ key: string }>("select lanefold.name_key('a') as key");
    const own = derivedIds(rows[0]!.key);
    const at = new Date(slot).toISOString();
    const asked = JSON.stringify([name, 'echo', contextHash([{ role: 'user', content: name }])]);
    const names = [name, `import/${name}`, `mcp ${keyIds['b']} ${name}`, `schedule:${name}:${at}`, `case:${asked}`];
    const hashed = names.flatMap((each) => [each, `b ${each}`, `default ${each}`].flatMap((text) => base32(sha(text))));
    const said = [...hashed, sha(['mcp', keyIds['b'], name].join(' '))].map((hash) => `thread_${hash}`);
    return [...said, ...names.map((each) => own.thread(each))];
  };

  test.each(Object.keys(doors))('cannot be found or taken by each other: %s', async (door) => {
    const names = [`first-${randomBytes(4).toString('hex')}`, `second-${randomBytes(4).toString('hex')}`] as const;
    const taken: [string, number][] = [];
    const take = async (name: string) => {
      for (const id of await guesses(name)) taken.push([id, (await as('a', 'POST', '/v1/threads', { id })).status]);
    };
    // taken in advance
    await take(names[0]);
    const first = await doors[door]!('b', names[0]);
    // looked for afterwards
    const second = await doors[door]!('b', names[1]);
    await take(names[1]);
    expect(taken.filter(([, status]) => status !== 201)).toEqual([]);
    const tried = taken.map(([id]) => id);
    expect(tried).not.toContain(first);
    expect(tried).not.toContain(second);
    // the other tenant has threads of its own under the same names
    const third = `third-${randomBytes(4).toString('hex')}`;
    expect(await doors[door]!('a', third)).not.toBe(await doors[door]!('b', third));
    for (const [thread, owner] of [
      [first, 'b'],
      [second, 'b'],
    ] as const)
      expect((await lanefold.threads.get(thread)).tenantId).toBe(owner);
  });

  test('of what the library starts itself cannot be taken within a tenant either', async () => {
    const name = `taken-${randomBytes(4).toString('hex')}`;
    const requestId = `schedule:${name}:${new Date(slot).toISOString()}`;
    const asked = await as('b', 'POST', '/v1/runs', {
      runs: [{ agent: 'echo', input: 'not this', request_id: requestId }],
    });
    const { run } = (asked.body as { data: { run: { id: string; thread_id: string } }[] }).data[0]!;
    const fired = await doors['schedules']!('b', name);
    expect(fired).not.toBe(run.thread_id);
    const [own] = (await lanefold.forTenant('b').runs.list({ threadId: fired })).data;
    expect(own).toMatchObject({ requestId, status: expect.stringMatching(/queued|running|completed/) });
    expect(own!.id).not.toBe(run.id);
  });

  test('find the same thread again, also from another process', async () => {
    const other = await createLanefold(lanefold.options);
    const request = { agent: 'echo', input: 'hi', requestId: 'again' };
    const first = await lanefold.forTenant('b').runs.enqueue(request);
    expect(await other.forTenant('b').runs.enqueue(request)).toMatchObject({
      threadId: first.threadId,
      id: first.id,
      duplicate: true,
    });
    expect((await other.runs.enqueue(request)).threadId).not.toBe(first.threadId);
    await other.close();
  });

  test('come from a secret that no role reads, through a key of their own tenant', async () => {
    const suffix = randomBytes(4).toString('hex');
    const duties = { worker: '', api: '', reader: ", 'a'" };
    const granting = Object.entries(duties).flatMap(([duty, tenant]) => [
      `create role ${duty}_${suffix} login password 'p'`,
      `select lanefold.grant_role('${duty}_${suffix}', '${duty}'${tenant})`,
    ]);
    await statements(lanefold.database.url, ...granting);
    const { rows } = await lanefold.database.pool.query<{ key: string }>("select lanefold.name_key('a') as key");
    try {
      for (const duty of Object.keys(duties)) {
        const client = new pg.Client({ connectionString: urlAs(lanefold.database.url, `${duty}_${suffix}`, 'p') });
        await client.connect();
        const denied = (sql: string, code: string) => expect(client.query(sql)).rejects.toMatchObject({ code });
        await denied('select * from lanefold._secret', '42501');
        await denied('update lanefold._secret set value = value', '42501');
        await client.query("set lanefold.tenant = 'a'");
        const key = "select lanefold.name_key('a') as key";
        if (duty === 'reader') await denied(key, '42501');
        else expect((await client.query<{ key: string }>(key)).rows).toEqual(rows);
        await denied("select lanefold.name_key('b')", duty === 'reader' ? '42501' : 'LF016');
        await client.end();
      }
    } finally {
      const revoking = Object.keys(duties).flatMap((duty) => [
        `select lanefold.revoke_role('${duty}_${suffix}')`,
        `drop role ${duty}_${suffix}`,
      ]);
      await statements(lanefold.database.url, ...revoking);
    }
  });

  test('differ from those of another installation', async () => {
    const other = await createDatabase({ empty: true });
    await migrate(other.url);
    const key = "select lanefold.name_key('a') as key";
    const [mine, theirs] = await Promise.all([lanefold.database.pool, other.pool].map((pool) => pool.query(key)));
    expect(theirs!.rows).not.toEqual(mine!.rows);
    await other.drop();
  });
});

test('ids of shared name spaces are derived in one place', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const deriving = (pattern: RegExp) =>
    files
      .filter((file) => pattern.test(readFileSync(path.join('src', file), 'utf8').replace(/^\s*\*.*$/gm, '')))
      .sort();
  // an id built of a hash or of a name
  expect(deriving(/[`'"](thread|run|case)_(\$\{|['"] \+)/)).toEqual([]);
  expect(deriving(/\bderivedIds\b/)).toEqual(['base/checks/ids.ts', 'database/store/tenant/tenant-settings.ts']);
});
