// @module-tag slow
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLanefold, defineAgent, defineTool, type Lanefold, type LanefoldOptions } from 'lanefold';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { z } from 'zod';
import { schemaVersion } from '../../db/schema/version.ts';
import { migrate, type MigrateResult } from '../../src/database/store/schema/migrate.ts';
import {
  citusFolder,
  connectNodes,
  createCluster,
  createDatabases,
  databaseAt,
  startCitus,
  statements,
  urlAs,
  type CitusCluster,
} from '../support/citus.ts';
import { portsOf } from '../support/citus-node.ts';
import { fakeModel, type FakeScript } from '../support/fake-model.ts';
import { deferred, until } from '../support/until.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { searchTwice } from './search.ts';

const name = 'distributed';
const made = new Map<string, ReturnType<typeof fakeModel>>();
const model = (script: FakeScript): string => {
  made.set(`${made.size}`, fakeModel(script));
  return `fake:${made.size - 1}`;
};
const input = z.object({ n: z.number() });
const tools = [
  defineTool({ name: 'add', input, execute: ({ n }) => `${n + 1}` }),
  defineTool({ name: 'pay', input, needsApproval: true, execute: ({ n }) => `paid ${n}` }),
];
async function ask(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
const call = (tool: string, n: number) => ({ id: `${tool}-${n}`, name: tool, args: { n } });
/** More than a few, so that both nodes have some. */
const ids = Array.from({ length: 8 }, (_, i) => `thread-${i}`);

describe.skipIf(!citusFolder || !inject('redisUrl'))('threads on two nodes', () => {
  let dir: string;
  let cluster: CitusCluster;
  let migrated: MigrateResult[];
  let lanefold: Lanefold;
  let options: LanefoldOptions;
  /** Of each node, the coordinator first. */
  let clients: pg.Client[];
  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'lanefold-citus-'));
    await chmod(dir, 0o755);
    cluster = await startCitus(path.join(dir, 'nodes'));
    const databaseUrl = await createCluster(cluster.nodes, name);
    migrated = [await migrate(databaseUrl, { queueTables: false }), await migrate(databaseUrl, { queueTables: false })];
    clients = cluster.nodes.map((node) => new pg.Client({ connectionString: databaseAt(node, name) }));
    for (const client of clients) await client.connect();
    options = {
      databaseUrl,
      redisUrl: inject('redisUrl'),
      queuePrefix: 'distributed',
      models: { fake: (id: string) => made.get(id)! },
      agents: [
        defineAgent({ name: 'a', model: 'scripted:echo', tools }),
        defineAgent({ name: 'b', model: 'scripted:echo' }),
      ],
    };
    lanefold = await createLanefold(options);
    await lanefold.startWorker({ sweepMs: 600_000 });
  });
  afterAll(async () => {
    await lanefold?.close();
    for (const client of clients ?? []) await client.end();
    await cluster?.stop();
    await rm(dir, { recursive: true, force: true });
  });

  /** The log as a node sees it, and its own shards with entries. */
  const entryTables = async (node: pg.Client): Promise<string[]> => {
    const { rows } = await node.query<{ name: string }>(
      `select c.oid::regclass::text as name from pg_class c
       where c.relnamespace = 'lanefold'::regnamespace and c.relkind = 'r' and c.relname ~ '^_entry(_[0-9]+)?$'`,
    );
    const filled = await Promise.all(
      rows.map(async ({ name }) => ((await node.query(`select from ${name} limit 1`)).rows.length > 0 ? [name] : [])),
    );
    return filled.flat();
  };
  /** Statements that the nodes answered since the last time, by how many nodes each of them needed. */
  const counted = async () => {
    const { rows } = await clients[0]!.query<{ one: string; many: string }>(
      `select query_execution_single_shard as one, query_execution_multi_shard as many
       from citus_stat_counters where name = current_database()`,
    );
    await clients[0]!.query('select citus_stat_counters_reset(0)');
    return { one: Number(rows[0]!.one), many: Number(rows[0]!.many) };
  };

  test('a second migration finds nothing to do', () => {
    expect(migrated.map(({ status }) => status)).toEqual(['migrated', 'current']);
  });

  test('every node has the functions, policies and rights', async () => {
    // functions that take rows of limits, schedules, streams, evals, monitors, alarms and circuits, which are on the coordinator alone
    const local =
      "pg_get_function_arguments(p.oid) ~ '_limit_(bucket|account)|_(limit|schedule|stream|eval|monitor|alarm|circuit|rollout)\\M' or pg_get_function_result(p.oid) ~ '_limit_|_circuit$'";
    const what = `
      select (select count(*)::int from pg_proc p where p.pronamespace = n.oid and not (${local})) as functions,
        (select count(*)::int from pg_proc p where p.pronamespace = n.oid and (p.proacl is null
          or exists (select from aclexplode(p.proacl) a where a.grantee = 0))) as for_everybody,
        (select count(*)::int from pg_proc p where p.pronamespace = n.oid and prosecdef) as as_owner,
        (select string_agg(distinct tgenabled::text, '') from pg_trigger t join pg_class c on c.oid = t.tgrelid
         where c.relnamespace = n.oid and not tgisinternal) as triggers,
        (select count(*)::int from pg_class c where c.relnamespace = n.oid and c.relkind = 'r'
           and not (c.relrowsecurity and c.relforcerowsecurity and exists (select from pg_policy where polrelid = c.oid))) as open
      from pg_namespace n where n.nspname = 'lanefold'`;
    const [coordinator, ...others] = await Promise.all(clients.map(async (node) => (await node.query(what)).rows[0]));
    expect(coordinator).toMatchObject({ open: 0, triggers: 'A' });
    for (const other of others) expect(other).toEqual(coordinator);
  });

  test('a session of a node needs no more memory for calls it has executed before', async () => {
    const node = clients[1]!;
    const ports = await portsOf(clients[0]!, ids);
    const mine = ids[ports.indexOf(Number(new URL(cluster.nodes[1]!).port))];
    const renewTimes = async (times: number) => {
      for (let i = 0; i < times; i++)
        await node.query({ name: 'renew', text: "select lanefold.renew_lease($1, 'none', 1, 1000)", values: [mine] });
      const { rows } = await node.query<{ bytes: string }>(
        'select sum(total_bytes) as bytes from pg_backend_memory_contexts',
      );
      return Number(rows[0]!.bytes);
    };
    const before = await renewTimes(50);
    expect((await renewTimes(200)) - before).toBeLessThan(200_000);
  });

  const runOn = async (threads: string[]) => {
    await Promise.all(threads.map((id) => lanefold.threads.create({ id })));
    await counted();
    const runs = await Promise.all(
      threads.map((threadId, n) =>
        lanefold.runs.enqueue({
          agent: 'a',
          threadId,
          model: model([{ calls: [call('add', n), call('add', n + 1)] }, { text: `done ${n}` }]),
          input: 'go',
        }),
      ),
    );
    const ended = await Promise.all(runs.map((run) => lanefold.runs.wait(run)));
    expect(ended.map((run) => run.result)).toEqual(threads.map((_, n) => `done ${n}`));
    for (const run of runs) {
      expect(await lanefold.contexts.project(run.threadId)).toHaveLength(5);
      expect((await lanefold.runs.events(run)).at(-1)).toMatchObject({ kind: 'checkpoint' });
      expect(await lanefold.runs.get(run)).toMatchObject({ status: 'completed' });
      expect(await lanefold.threads.get(run.threadId)).toMatchObject({ rev: 5, activeRunId: null });
      expect(await lanefold.threads.entries(run.threadId)).toHaveLength(5);
    }
    return counted();
  };

  test('every statement of runs is answered by one node', async () => {
    let statements = await runOn(ids);
    // the first look of the worker at all threads may fall among them, and has no other for minutes
    if (statements.many > 0) {
      const more = ids.map((id) => `${id}-again`);
      statements = await runOn(more);
      for (const id of more) await lanefold.threads.erase(id);
    }
    expect(statements.one).toBeGreaterThan(ids.length * 8);
    expect(statements.many).toBe(0);
    const placed = await clients[0]!.query(
      `select count(distinct nodename || nodeport)::int as nodes from unnest($1::text[]) id,
       lateral (select get_shard_id_for_distribution_column('lanefold.thread', id) as shard) s
       join pg_dist_placement p on p.shardid = s.shard join pg_dist_node n on n.groupid = p.groupid`,
      [ids],
    );
    expect(placed.rows).toEqual([{ nodes: 2 }]);
  });

  test('people approve, steer and cancel', async () => {
    const [threadId, other] = ids as [string, string];
    const run = await lanefold.runs.enqueue({
      agent: 'a',
      threadId,
      model: model([{ calls: [call('pay', 5)] }, { text: 'paid' }, { text: 'and steered' }]),
      input: 'pay 5',
    });
    const { approvals } = await until('it waits for approval', async () => {
      const found = await lanefold.runs.get(run);
      return found.status === 'suspended' ? found : undefined;
    });
    expect((await lanefold.approvals.list()).data).toMatchObject([{ threadId, runId: run.id, name: 'pay' }]);
    expect(await lanefold.runs.steer(threadId, 'and hurry')).toMatchObject({ status: 'queued' });
    await lanefold.runs.approve(run, approvals[0]!.call, { by: 'x' });
    expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed' });
    expect(await lanefold.runs.inputs(run)).toMatchObject([{ status: 'injected' }]);

    const begun = deferred();
    const stuck = await lanefold.runs.enqueue({
      agent: 'a',
      threadId: other,
      model: model((request) => {
        begun.resolve();
        return new Promise((_, reject) =>
          request.abortSignal!.addEventListener('abort', () => reject(new Error('aborted'))),
        );
      }),
      input: 'go',
    });
    await begun.promise;
    // the lease is far from its renewal: the worker is told
    expect(await lanefold.runs.cancel(stuck)).toMatchObject({ accepted: true });
    expect(await lanefold.runs.wait(stuck, { timeoutMs: 8_000 })).toMatchObject({ status: 'cancelled' });
  });

  test('a fork may be on another node than its parent, and lists see both', async () => {
    const forks = await Promise.all(ids.map((id) => lanefold.threads.fork(id, { id: `fork-of-${id}`, atSeq: 4 })));
    for (const [n, fork] of forks.entries()) {
      const rows = await lanefold.contexts.diff({ threadId: ids[n]!, atSeq: 4 }, { threadId: fork.id });
      expect(rows.map((row) => row.change)).toEqual(Array(5).fill('same'));
    }
    expect((await lanefold.threads.list({ limit: 100 })).data).toHaveLength(2 * ids.length);
    expect((await lanefold.runs.list({ limit: 100 })).data).toHaveLength(ids.length + 2);
    expect((await lanefold.runs.list({ limit: 100, status: 'cancelled' })).data).toHaveLength(1);
    expect((await lanefold.runs.list({ threadId: ids[0]!, limit: 100 })).data).toHaveLength(2);
    await lanefold.threads.erase(forks[0]!.id);
    expect((await lanefold.threads.list({ limit: 100 })).data).toHaveLength(2 * ids.length - 1);
    expect(await lanefold.stats()).toMatchObject({ runs: { running: 0 } });
    await lanefold.activity();
  });

  test('threads are neither exported nor imported', async () => {
    const refused = { code: 'distributed_database' };
    await expect(lanefold.threads.export(ids[0]!).next()).rejects.toMatchObject(refused);
    const chat = { format: 'openai', items: [{ role: 'user', content: 'Hi.' }] } as const;
    await expect(lanefold.threads.import(chat, { id: 'copy' })).rejects.toMatchObject(refused);
    await expect(lanefold.threads.get('copy')).rejects.toMatchObject({ code: 'thread_not_found' });
  });

  test('the sweep finds lost jobs on every node', async () => {
    const other = await createLanefold({ ...options, queuePrefix: 'lost', privateWebhooks: true });
    try {
      const runs = await Promise.all(
        ids.map((threadId) =>
          other.runs.enqueue({ agent: 'a', threadId, model: model([{ text: 'late' }]), input: 'go' }),
        ),
      );
      await other.queues[0]!.obliterate({ force: true });
      await clients[0]!.query('update lanefold._run set enqueued_at = $1 where active', [
        new Date(Date.now() - 60_000),
      ]);
      // what is searched node by node while one is down
      await other.webhooks.set('unused', { url: 'http://127.0.0.1:9/', agents: ['nobody'] });
      const { together, each } = await searchTwice(options.databaseUrl!, 'lost', 'a');
      expect(together['queued']).toHaveLength(ids.length);
      expect(each).toEqual(together);
      await other.webhooks.remove('unused');
      await other.startWorker({ sweepMs: 50 });
      for (const run of runs) expect(await other.runs.wait(run)).toMatchObject({ result: 'late' });
    } finally {
      await other.close();
    }
  });

  test('webhooks are told of runs on every node', async () => {
    const receiver = await startReceiver();
    const other = await createLanefold({ ...options, queuePrefix: 'told', privateWebhooks: true });
    try {
      for (const ordered of [true, false])
        await other.webhooks.set(`ordered-${ordered}`, { url: `${receiver.url}/${ordered}`, ordered });
      await other.startWorker({ sweepMs: 200 });
      const answer = [{ text: 'told' }, { text: 'again' }];
      const runs = await Promise.all(
        ids.flatMap((id) => {
          const told = { agent: 'a', threadId: `told-${id}`, createThread: true, input: 'go', busy: 'wait' as const };
          return [0, 1].map(() => other.runs.enqueue({ ...told, model: model(answer) }));
        }),
      );
      for (const run of runs) await other.runs.wait(run);
      for (const ordered of [true, false]) {
        const all = await until(`all are delivered, ordered: ${ordered}`, async () => {
          const found = await other.webhooks.deliveries(`ordered-${ordered}`);
          return found.length === runs.length && found.every(({ status }) => status === 'delivered') && found;
        });
        expect(all.map(({ attempts }) => attempts)).toEqual(runs.map(() => 1));
        const told = receiver.at(`/${ordered}`).map(({ event }) => event.data['run_id']);
        expect(told.toSorted()).toEqual(runs.map(({ id }) => id).toSorted());
        const { rows } = await clients[0]!.query('select from lanefold.webhook_delivery where webhook = $1', [
          `ordered-${ordered}`,
        ]);
        expect(rows).toHaveLength(runs.length);
        await other.webhooks.remove(`ordered-${ordered}`);
      }
    } finally {
      await other.close();
      await receiver.close();
    }
  });

  test('nobody changes an entry on any node, not even the owner', async () => {
    const changes = (table: string) => [
      `set local session_replication_role = replica; update ${table} set role = 'user'`,
      `set local session_replication_role = replica; truncate ${table}`,
      `set local session_replication_role = replica; delete from ${table}`,
      `set local role lanefold_owner; update ${table} set role = 'user'`,
      `set local role lanefold_owner; truncate ${table}`,
    ];
    for (const node of clients) {
      for (const change of (await entryTables(node)).flatMap(changes)) {
        const outcome = async () => {
          for (const part of ['begin', ...change.split('; ')]) await node.query(part);
          return 'changed';
        };
        const found = await outcome().catch((error: { code: string }) => error.code);
        await node.query('rollback');
        expect([change, found]).toEqual([change, 'LF015']);
      }
    }
  });

  test('a tenant is alone on every node, in the process of an API as in that of a superuser', async () => {
    const few = [0, 1, 2];
    await clients[0]!.query('create role an_api login');
    await clients[0]!.query("select lanefold.grant_role('an_api', 'api')");
    const url = new URL(options.databaseUrl!);
    url.username = 'an_api';
    const bolt = await createLanefold({ ...options, databaseUrl: url.href, tenant: 'bolt' });
    try {
      const acme = lanefold.forTenant('acme');
      for (const library of [acme, bolt]) {
        for (const n of few) {
          const { id } = await library.threads.create({ id: `${library.tenant}-${n}` });
          await library.threads.append(id, [{ message: { role: 'user', content: id } }]);
          expect(await library.contexts.project(id)).toMatchObject([{ content: id }]);
        }
        expect((await library.threads.list({ limit: 100 })).data).toHaveLength(few.length);
        expect((await library.threads.list({ tenantId: library.tenant! })).data).toHaveLength(few.length);
        const run = await library.runs.enqueue({ agent: 'a', threadId: `${library.tenant}-0`, input: 'go' });
        expect(await library.runs.wait(run)).toMatchObject({ status: 'completed' });
        expect(await library.runs.unfinished({ tenant: library.tenant! })).toBe(0);
      }
      for (const [library, other] of [
        [acme, 'bolt'],
        [bolt, 'acme'],
      ] as const) {
        for (const n of few) {
          const id = `${other}-${n}`;
          const own = `${library.tenant}-0`;
          const message = { role: 'user' as const, content: 'x' };
          for (const attempt of [
            () => library.threads.get(id),
            () => library.contexts.project(id),
            () => library.contexts.diff({ threadId: own }, { threadId: id }),
            () => library.threads.append(id, [{ message }]),
            () => library.threads.fork(id),
            () => library.runs.enqueue({ agent: 'a', threadId: id, input: 'go' }),
          ])
            await expect(attempt()).rejects.toMatchObject({ code: 'thread_not_found' });
        }
      }
      await clients[0]!.query('create role a_reader login');
      await clients[0]!.query("select lanefold.grant_role('a_reader', 'reader', 'acme')");
      const reads = urlAs(options.databaseUrl!, 'a_reader', '');
      expect(await ask(reads, 'select id from lanefold.thread order by id')).toEqual(
        few.map((n) => ({ id: `acme-${n}` })),
      );
      expect(await ask(reads, "select id from lanefold.thread where id = 'bolt-0' and tenant_id = 'bolt'")).toEqual([]);
      // in a join, the coordinator would execute it, as the owner
      const at = "select f.* from lanefold.lane l, lanefold.lane_context_at('bolt-0', 'default', 1) f";
      await expect(ask(reads, at)).rejects.toMatchObject({ code: '42501' });
    } finally {
      await bolt.close();
    }
  });

  test(
    'a database with threads is distributed where that is asked for, and keeps every row',
    { tags: 'long' },
    async () => {
      const databaseUrl = await createDatabases(cluster.nodes, 'existing');
      const migrateIt = (more = {}) => migrate(databaseUrl, { queueTables: false, ...more });
      await migrateIt();
      const open = () => createLanefold({ ...options, databaseUrl, queuePrefix: 'existing', largeContentBytes: 4_096 });
      const reads = urlAs(databaseUrl, 'reads', '');
      const at = "select lanefold.lane_context_at('thread-0', 'default', 1)";
      let own = await open();
      const contexts = () => Promise.all(ids.map((id) => own.contexts.project(`fork-of-${id}`)));
      let before;
      try {
        for (const id of ids) {
          await own.threads.create({ id, systemPrompt: `of ${id}` });
          await own.threads.append(id, [{ message: { role: 'user', content: `large ${id} `.repeat(1_000) } }]);
          await own.threads.fork(id, { id: `fork-of-${id}` });
        }
        before = await contexts();
        await clients[0]!.query('create role reads login');
        await statements(
          databaseUrl,
          "select lanefold.grant_role('reads', 'reader', 'default')",
          // of a role that was dropped since
          "insert into lanefold._role (name, duty, tenant) values ('gone', 'reader', 'default')",
        );
        await connectNodes(cluster.nodes, 'existing');
        expect(await migrateIt()).toMatchObject({ status: 'current', undistributed: true });
        await expect(migrateIt({ distribute: true })).rejects.toMatchObject({ code: 'database_busy' });
        expect(await ask(reads, at)).not.toEqual([]);
      } finally {
        await own.close();
      }
      const { undistributed, status } = await migrateIt({ distribute: true });
      expect({ undistributed, status }).toEqual({ undistributed: undefined, status: 'migrated' });
      expect(await migrateIt({ distribute: true })).toMatchObject({ status: 'current' });
      own = await open();
      try {
        expect(await ask(reads, 'select count(*)::int as threads from lanefold.thread')).toEqual([{ threads: 16 }]);
        await expect(ask(reads, at)).rejects.toMatchObject({ code: '42501' });
        await own.startWorker();
        expect(await contexts()).toEqual(before);
        for (const id of ids) {
          await own.threads.erase(id);
          const run = await own.runs.enqueue({ agent: 'a', threadId: `fork-of-${id}`, input: 'continue' });
          expect(await own.runs.wait(run)).toMatchObject({ status: 'completed' });
        }
        const [{ refs }] = (await own.threads.entries('fork-of-thread-0')).flatMap(
          ({ payload }) =>
            (payload as { operation?: { result_context: { entries: { refs: { contents: { id: string }[] } }[] } } })
              .operation?.result_context.entries ?? [],
        ) as [{ refs: { contents: { id: string }[] } }];
        expect((await own.threads.readContent('fork-of-thread-0', refs.contents[0]!.id)).text).toContain(
          'large thread-0',
        );
      } finally {
        await own.close();
      }
    },
  );

  test('a member of the owner migrates what a superuser has made', { tags: 'long' }, async () => {
    const url = options.databaseUrl!;
    await statements(
      url,
      'create role member login in role lanefold_owner',
      "comment on function lanefold._lock_thread(text) is 'of another version'",
    );
    expect(await migrate(urlAs(url, 'member', ''), { queueTables: false })).toMatchObject({ status: 'migrated' });
  });

  test('a role that is no superuser migrates, and a worker works on what it made', { tags: 'long' }, async () => {
    const url = await createCluster(cluster.nodes, 'migrated');
    await statements(url, 'create role migrator login createrole', 'grant create on database migrated to migrator');
    const own = urlAs(url, 'migrator', '');
    expect(await migrate(own, { queueTables: false })).toEqual({ from: 0, to: schemaVersion, status: 'migrated' });
    await statements(
      own,
      'create role works login',
      "select lanefold.grant_role('works', 'worker')",
      "comment on function lanefold._lock_thread(text) is 'of another version'",
    );
    expect(await migrate(own, { queueTables: false })).toMatchObject({ status: 'migrated' });
    const worker = await createLanefold({
      ...options,
      databaseUrl: urlAs(url, 'works', ''),
      queuePrefix: 'distributed-migrated',
      roleCheck: 'refuse',
    });
    try {
      await worker.startWorker();
      const runs = await Promise.all(
        ids.map((threadId) => worker.runs.enqueue({ agent: 'b', threadId, createThread: true, input: threadId })),
      );
      const ended = await Promise.all(runs.map((run) => worker.runs.wait(run)));
      expect(ended.map(({ result }) => result)).toEqual(ids);
    } finally {
      await worker.close();
    }
  });

  test('seqs have no gap and every run one end', async () => {
    const gaps = await clients[0]!.query(
      `select thread_id from lanefold._entry group by thread_id having max(seq) + 1 <> count(*)
       union all select thread_id from lanefold._event_batch group by thread_id having min(event_seq) <> 0`,
    );
    expect(gaps.rows).toEqual([]);
    const ends = await clients[0]!.query(
      `select r.thread_id, r.id, count(e.kind) from lanefold._run r
       left join lanefold.run_event e on e.thread_id = r.thread_id and e.run_id = r.id
         and e.kind in ('request_completed', 'request_failed', 'request_cancelled')
       group by r.thread_id, r.id having count(e.kind) <> 1`,
    );
    expect(ends.rows).toEqual([]);
  });
});
