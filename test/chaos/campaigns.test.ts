// @module-tag long
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { appendCampaign, openLog, readCampaigns, planCampaigns, campaignRows } from '../../src/ops/chaos/table.ts';
import type { CampaignReport } from '../../src/ops/chaos/report.ts';
import { cli } from '../cli/cli.ts';

const recovery = (p50: number) => ({ p50, p95: 2 * p50, max: 3 * p50 });

const added = { limited_calls: 11, odd_answers: 12, slots: 13, waits: 14, webhook_events: 15, webhook_failures: 16 };

const report = (queue: 'postgres' | 'redis', seed: number, more: Partial<CampaignReport> = {}): CampaignReport => ({
  queue,
  seed,
  workers: 3,
  concurrency: 8,
  lease_ms: 900,
  sweep_ms: 300,
  scenarios: 100,
  reached: true,
  worker_deaths: 30,
  runs: { total: 500, completed: 480, failed: 2, cancelled: 18 },
  failures: { poisoned: 2 },
  exercised: {
    strategies: { tot: 4, cot: 5 },
    sub_agents: 6,
    handoffs: 7,
    decisions: 8,
    forks: 9,
    delays: 10,
    ...added,
  },
  entries: 1,
  operations: 1_000,
  model_calls: 2,
  lost_model_calls: 3,
  tool_calls: 4,
  lost: 0,
  duplicated: 0,
  finished_tools_repeated: 0,
  late_starts: 0,
  orphan_calls: 0,
  hung: 0,
  faults: {},
  violations: [],
  elapsed_ms: 1,
  recovery_ms: recovery(seed),
  ...more,
});

describe('several campaigns', () => {
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'lanefold-campaigns-'));
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  test('have the scenarios together, on each queue with each seed', () => {
    const planned = planCampaigns({ queues: ['postgres', 'redis'], seed: 7, campaigns: 2, scenarios: 10 });
    expect(planned).toEqual([
      { queue: 'postgres', seed: 7, scenarios: 3 },
      { queue: 'redis', seed: 7, scenarios: 3 },
      { queue: 'postgres', seed: 8, scenarios: 2 },
      { queue: 'redis', seed: 8, scenarios: 2 },
    ]);
  });

  test('are summed up in a table, with the slowest recovery', () => {
    const rows = campaignRows([report('redis', 4), report('redis', 6), report('redis', 5, { failures: { x: 1 } })]);
    expect(rows).toEqual(
      expect.arrayContaining([
        ['', 'queue in Redis'],
        ['scenarios', '300'],
        ['failed, by error', '4 poisoned, 1 x'],
        ['runs of strategies', '27'],
        ['model calls under a limit', '33'],
        ['runs of schedules', '39'],
        ['events at webhooks', '45'],
        ['operations in the histories', '3,000'],
        ['recovery p95 of the slowest campaign, ms', '12'],
        ['seeds', '4 to 6'],
      ]),
    );
    expect(campaignRows([report('postgres', 1), report('redis', 3)])[0]).toHaveLength(3);
  });

  test('that are in the log are not run again', async () => {
    const log = path.join(dir, 'campaigns.jsonl');
    expect(await readCampaigns(log)).toEqual([]);
    const known = [report('postgres', 5), report('postgres', 6)];
    for (const one of known) await appendCampaign(log, one);
    expect(await readCampaigns(log)).toEqual(known);
    const before = await readFile(log, 'utf8');
    const args = ['--queue', 'postgres', '--seed', '5', '--campaigns', '2', '--scenarios', '200', '--log', log];
    const same = ['--workers', '3', '--concurrency', '8', '--scale', '0.15'];
    const { code, stdout } = await cli(['chaos', ...args, ...same, '--json']);
    expect([code, JSON.parse(stdout)]).toEqual([0, { scenarios: 200, violations: 0, campaigns: known }]);
    expect(await readFile(log, 'utf8')).toBe(before);
    const other = await cli(['chaos', ...args, ...same, '--workers', '5']);
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('workers is 3 there, and 5 here')]);
    // a line that was cut off with its process
    await appendFile(log, before.slice(0, 100));
    expect(await openLog(log)).toEqual(known);
    expect(await readFile(log, 'utf8')).toBe(before);
    await appendFile(log, `${before.slice(0, 100)}\n`);
    const damaged = await cli(['chaos', ...args, ...same]);
    expect([damaged.code, damaged.stderr]).toEqual([2, expect.stringContaining('Could not use')]);
  });
});
