// @module-tag long
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { providerModels, startProvider } from '../../src/ops/chaos/provider.ts';
import { randomOf } from '../../src/ops/chaos/schedule.ts';
import { providerAgents } from '../../src/ops/chaos/workload/tools.ts';
import { nothingAcknowledged, Journal } from '../../src/ops/chaos/workload/journal.ts';
import { haveLimitedRuns } from '../../src/ops/chaos/workload/features.ts';
import { startLanefold } from '../support/lanefold.ts';

test('a rush of runs that two limits refuse ends, without a fault', async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'lanefold-rush-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const provider = await startProvider(1);
  onTestFinished(() => provider.close());
  const agents = providerAgents(new Journal(dir));
  const lanefold = await startLanefold({ agents, models: providerModels(provider.url) });
  onTestFinished(() => lanefold.close());
  await lanefold.startWorker();
  const acknowledged = nothingAcknowledged();
  const client = { lanefold, acknowledged, signal: new AbortController().signal };
  await haveLimitedRuns(client, randomOf(1, 'limited'), AbortSignal.abort());
  const runs = await Promise.all(acknowledged.runs.map((run) => lanefold.runs.get(run)));
  expect(new Set(runs.map(({ status }) => status))).toEqual(new Set(['completed']));
  expect(runs).toHaveLength(160);
});
