// @module-tag long
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Exercised } from '../../src/ops/chaos/report.ts';
import { faultKinds, kindsFor, planFaults } from '../../src/ops/chaos/schedule.ts';
import { checkHistory } from '../../src/ops/history/check-history.ts';
import { operationsOf, fromLines } from '../../src/ops/history/event.ts';
import { cli } from '../cli/cli.ts';
import { noRedis, queueBackend } from '../support/lanefold.ts';

const take = (seed: number, count: number) => {
  const faults = planFaults(seed, faultKinds);
  return Array.from({ length: count }, () => faults.next().value);
};

test('the seed determines the schedule, which includes every kind of fault', () => {
  expect(take(7, 300)).toEqual(take(7, 300));
  expect(take(7, 300)).not.toEqual(take(8, 300));
  expect(new Set(take(7, 300).map((fault) => fault.kind))).toEqual(new Set(faultKinds));
  expect(kindsFor('postgres', faultKinds)).toEqual(faultKinds.filter((kind) => kind !== 'redis'));
});

describe.skipIf(noRedis())('lanefold chaos', () => {
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'lanefold-campaign-'));
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  test('injects faults into workers on its own services and finds no violation', async () => {
    const file = path.join(dir, 'report.json');
    const args = [
      '--queue',
      queueBackend(),
      '--scenarios',
      '10',
      '--seed',
      '3',
      '--workers',
      '3',
      '--concurrency',
      '8',
    ];
    const history = path.join(dir, 'history.jsonl');
    const { code, stdout } = await cli(['chaos', ...args, '--json', '--report', file, '--history', history], {
      cwd: path.resolve('.'),
      // unusable URLs: the command must only use servers that it started
      env: { DATABASE_URL: 'postgresql://127.0.0.1:1/nobody', REDIS_URL: 'redis://127.0.0.1:1' },
    });
    const result = JSON.parse(stdout) as { violations: number; campaigns: Record<string, unknown>[] };
    expect(result.campaigns).toMatchObject([
      {
        queue: queueBackend(),
        seed: 3,
        lost: 0,
        duplicated: 0,
        finished_tools_repeated: 0,
        orphan_calls: 0,
        hung: 0,
        violations: [],
      },
    ]);
    const exercised = result.campaigns[0]!['exercised'] as Exercised;
    // the machine decides how many conversations there are, but not what the first of each slot does
    expect(Object.keys(exercised.strategies)).toEqual(expect.arrayContaining(['cot', 'tot']));
    expect(Math.min(exercised.sub_agents, exercised.decisions)).toBeGreaterThan(0);
    expect(result).toMatchObject({ scenarios: 10, violations: 0 });
    expect(code).toBe(0);
    await expect(readFile(file)).rejects.toThrow('ENOENT');
    const events = fromLines(await readFile(history, 'utf8'));
    const operations = operationsOf(events);
    expect(operations).toHaveLength(result.campaigns[0]!['operations'] as number);
    expect([...new Set(operations.map(({ f }) => f))]).toEqual(
      expect.arrayContaining(['append', 'read', 'enqueue', 'claim', 'commit', 'record', 'renew', 'execute', 'reserve']),
    );
    expect(checkHistory(events)).toEqual([]);
  });

  test('reports an invalid command line and starts nothing', async () => {
    const { code, stderr } = await cli(['chaos', '--faults', 'kill,earthquake']);
    expect(code).toBe(2);
    expect(stderr).toContain('Unknown fault "earthquake"; the faults are kill, stop');
    expect((await cli(['chaos', '--agent', 'support'])).code).toBe(2);
    const unwritable = await cli(['chaos', '--history', path.join(dir, 'missing', 'history.jsonl')]);
    expect([unwritable.code, unwritable.stderr]).toEqual([2, expect.stringContaining('Could not write')]);
    expect((await cli(['chaos', '--queue', 'postgres', '--faults', 'redis'])).stderr).toContain('None of the faults');
  });
});
