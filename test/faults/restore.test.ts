// @module-tag long
import { appendFile, chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { createLanefold, defineAgent, defineTool, type Lanefold, type RunHandle } from 'lanefold';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checks } from '../../src/ops/chaos/run-checks.ts';
import { takeBaseBackup } from '../../src/ops/chaos/services/postgres.ts';
import { startRedis, type RedisServer } from '../../src/ops/chaos/services/redis.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../src/database/postgres/embedded/index.ts';
import { noRedis, queueBackend } from '../support/lanefold.ts';
import { deferred, until } from '../support/until.ts';
import { cli } from '../cli/cli.ts';

const onRedis = queueBackend() === 'redis';
const step = (tool: string) => `scripted:${JSON.stringify([{ tools: [{ tool, args: {} }] }, `${tool} done`])}`;

/** The runs of the drill, by what they do when the backup ends. */
interface Runs {
  ended: RunHandle;
  charging: RunHandle;
  behind: RunHandle;
  asking: RunHandle;
}

describe.skipIf(noRedis())('a database that was restored to an earlier moment', () => {
  let dir: string;
  let primary: EmbeddedPostgres | undefined;
  let restored: EmbeddedPostgres | undefined;
  let redis: RedisServer | undefined;
  const charges: string[] = [];
  let gate = deferred<void>();

  const open = (server: EmbeddedPostgres, migrate = false): Promise<Lanefold> => {
    const charge = defineTool({
      name: 'charge',
      replay: 'never',
      input: { type: 'object' },
      async execute(_, { idempotencyKey, signal }) {
        charges.push(idempotencyKey);
        await Promise.race([gate.promise, new Promise((resolve) => signal.addEventListener('abort', resolve))]);
        return 'charged';
      },
    });
    const sign = defineTool({ name: 'sign', needsApproval: true, input: { type: 'object' }, execute: () => 'signed' });
    return createLanefold({
      databaseUrl: server.url,
      redisUrl: redis?.url ?? null,
      migrate,
      agents: [defineAgent({ name: 'a', model: 'scripted:["Done."]', tools: [charge, sign] })],
    });
  };

  const archive = () => path.join(dir, 'archive');
  const settings = () => ({
    wal_level: 'replica',
    archive_mode: 'on',
    archive_command: `cp "%p" "${archive()}/%f"`,
    restore_command: `cp "${archive()}/%f" "%p"`,
  });

  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'lanefold-restore-'));
    await chmod(dir, 0o755);
    await mkdir(archive());
    await chmod(archive(), 0o777);
    if (onRedis) redis = await startRedis(dir);
  });
  afterAll(async () => {
    gate.resolve();
    await restored?.stop();
    await primary?.stop();
    await redis?.stop();
    await rm(dir, { recursive: true, force: true });
  });

  const sql = async <Row extends pg.QueryResultRow>(server: EmbeddedPostgres, text: string): Promise<Row[]> => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    try {
      return (await client.query<Row>(text)).rows;
    } finally {
      await client.end();
    }
  };

  /** Has runs in every state, ends a base backup's recovery there, and lets them continue. */
  async function liveOn(threads: string, amid: () => Promise<unknown>): Promise<Runs & { later: RunHandle }> {
    const lanefold = await open(primary!);
    const ask = (name: string, model?: string) =>
      lanefold.runs.enqueue({
        agent: 'a',
        input: name,
        threadId: `${threads}-${name}`,
        createThread: true,
        busy: 'wait',
        ...(model && { model }),
      });
    const worker = await lanefold.startWorker();
    const ended = await ask('ended');
    await lanefold.runs.wait(ended);
    const charging = await ask('charging', step('charge'));
    await until('the tool has started', () => charges.length > 0);
    await amid();
    const behind = await ask('charging');
    const asking = await ask('asking', step('sign'));
    await until('it waits for a decision', async () => (await lanefold.runs.get(asking)).status === 'suspended');
    await sql(primary!, `select pg_create_restore_point('${threads}')`);

    // what the backup does not have
    gate.resolve();
    await lanefold.runs.approve(asking, '1.0');
    const later = await ask('later');
    for (const run of [charging, behind, asking, later])
      expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed' });
    await worker.stop();
    await lanefold.close();
    await sql(primary!, 'select pg_switch_wal()');
    return { ended, charging, behind, asking, later };
  }

  async function restoreTo(point: string, backup: string): Promise<EmbeddedPostgres> {
    const data = path.join(backup, 'cluster', 'data');
    await writeFile(path.join(data, 'recovery.signal'), '');
    await appendFile(
      path.join(data, 'postgresql.auto.conf'),
      `\nrecovery_target_name = '${point}'\nrecovery_target_action = promote\n`,
    );
    await primary!.stop();
    const server = await startEmbeddedPostgres({ dir: backup, settings: { ...settings(), archive_mode: 'off' } });
    await until('recovery has ended', async () => {
      const [row] = await sql<{ over: boolean }>(server, 'select not pg_is_in_recovery() as over');
      return row!.over;
    });
    return server;
  }

  const eventsOf = (lanefold: Lanefold, run: RunHandle) =>
    lanefold.runs.events(run).then((events) => events.map(({ kind }) => kind));

  test.each(onRedis ? ['newer', 'older'] : ['consistent'])(
    'continues, with a queue that is %s: no run is lost, and each says that it may have run before',
    async (queue) => {
      charges.length = 0;
      gate = deferred();
      const [source, backup] = ['source', 'backup'].map((name) => path.join(dir, `${name}-${queue}`)) as [
        string,
        string,
      ];
      primary = await startEmbeddedPostgres({ dir: source, settings: settings() });
      await open(primary, true).then((lanefold) => lanefold.close());
      await takeBaseBackup(primary, backup);
      const client = redis && new Redis(redis.url);
      await client?.flushall();
      const { ended, charging, behind, asking, later } = await liveOn(queue, async () => {
        if (queue === 'older') await client!.save();
      });
      client?.disconnect();
      const [key] = charges;
      restored = await restoreTo(queue, backup);
      if (queue === 'older') await redis!.restart();

      const env = { DATABASE_URL: restored.url, REDIS_URL: redis?.url ?? '' };
      const { stdout, stderr } = await cli(['recover', '--json'], { env });
      expect(stderr).toBe('');
      const gone = queue === 'newer' ? [{ thread_id: later.threadId, id: later.id }] : [];
      expect(JSON.parse(stdout)).toEqual({ runs: 3, queued: 1, gone });

      const again = await open(restored);
      await again.startWorker();
      for (const run of [charging, behind]) {
        expect(await again.runs.wait(run), run.id).toMatchObject({ status: 'completed' });
        expect(await eventsOf(again, run)).toContain('database_restored');
      }
      // the model was told that it is unknown whether it was charged
      expect(charges).toEqual([key]);
      expect(await again.runs.get(asking)).toMatchObject({ status: 'suspended' });
      expect(await eventsOf(again, asking)).toContain('database_restored');
      await again.runs.approve(asking, '1.0');
      expect(await again.runs.wait(asking)).toMatchObject({ status: 'completed', result: 'sign done' });
      expect(await eventsOf(again, ended)).not.toContain('database_restored');
      await expect(again.runs.get(later)).rejects.toMatchObject({ code: 'run_not_found' });
      await again.close();
      for (const { name, sql: text } of checks) expect(await sql(restored, text), name).toEqual([]);
      await restored.stop();
    },
  );
});
