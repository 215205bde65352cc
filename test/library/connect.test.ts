import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLanefold, defineAgent, type AgentDefinition } from 'lanefold';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { noRedis, queueBackend } from '../support/lanefold.ts';
import { freePort } from '../../src/database/postgres/embedded/launch.ts';

describe.skipIf(noRedis())('createLanefold', () => {
  let database: TestDatabase;
  let closed: number;
  beforeAll(async () => {
    database = await createDatabase();
    closed = await freePort();
  });
  afterAll(() => database?.drop());

  const failure = (options: Parameters<typeof createLanefold>[0]) =>
    createLanefold({ databaseUrl: database.url, redisUrl: null, ...options }).then(
      () => 'it started',
      (error: unknown) => error,
    );

  test('reports an unreachable database, with a hint', async () => {
    expect(await failure({ databaseUrl: `postgres://x@127.0.0.1:${closed}/x` })).toMatchObject({
      code: 'database_unreachable',
      hint: expect.stringContaining('DATABASE_URL'),
    });
    const other = new URL(database.url);
    other.pathname = '/no_such_database';
    expect(await failure({ databaseUrl: other.href })).toMatchObject({ code: 'database_unreachable' });
  });

  test('reports an unreachable queue, with a hint', async () => {
    const [options, word] =
      queueBackend() === 'redis'
        ? [{ redisUrl: `redis://127.0.0.1:${closed}` }, 'REDIS_URL']
        : [{ directUrl: `postgres://x@127.0.0.1:${closed}/x` }, 'LANEFOLD_DIRECT_URL'];
    expect(await failure(options)).toMatchObject({
      code: 'queue_unreachable',
      hint: expect.stringContaining(word),
    });
  });

  test.each([
    ['unknown_model', 'nowhere:x'],
    ['missing_provider_key', 'openai:gpt-5'],
  ])('reports %s of an agent before it starts a database', async (code, model) => {
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.stubEnv('OPENAI_API_KEY', '');
    vi.stubEnv('DATABASE_URL', '');
    const embeddedDir = path.join(tmpdir(), `lanefold-never-${process.pid}`);
    expect(
      await failure({ databaseUrl: undefined, embeddedDir, agents: [{ name: 'a', model }] } as never),
    ).toMatchObject({
      code,
    });
    expect(existsSync(embeddedDir)).toBe(false);
  });

  test('reports a missing schema, with a hint to run lanefold migrate', async () => {
    const empty = await createDatabase({ empty: true });
    expect(await failure({ databaseUrl: empty.url })).toMatchObject({
      code: 'database_outdated',
      hint: expect.stringContaining('lanefold migrate'),
    });
    await empty.drop();
  });

  test.each<[string, () => AgentDefinition[], string]>([
    [
      'two agents with the same name',
      () => [1, 2].map(() => defineAgent({ name: 'a', model: 'scripted:echo' })),
      'invalid_agent',
    ],
    ['a name with a space', () => [{ name: 'a b', model: 'scripted:echo' }], 'invalid_agent'],
    ['an agent without a model', () => [{ name: 'a', model: '' }], 'invalid_agent'],
    ['an unknown strategy', () => [{ name: 'a', model: 'scripted:echo', strategy: 'luck' }], 'invalid_agent'],
    [
      'unknown model settings',
      () => [{ name: 'a', model: 'scripted:echo', settings: { temprature: 1 } as object }],
      'invalid_agent',
    ],
    ['a limit of 0 iterations', () => [{ name: 'a', model: 'scripted:echo', maxIterations: 0 }], 'invalid_agent'],
    ['a tool that is a number', () => [{ name: 'a', model: 'scripted:echo', tools: [7] as never }], 'invalid_tool'],
  ])('rejects %s', async (_, agents, code) => {
    expect(await failure({ agents: agents() })).toMatchObject({ code });
  });
});
