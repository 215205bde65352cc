import { existsSync, mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inject } from 'vitest';
import { cli, type CliResult } from '../cli/cli.ts';
import type { TestDatabase } from '../support/database.ts';
import { queueBackend } from '../support/lanefold.ts';

export const shopFile = path.resolve('test/replay/fixtures/shop.json');
/** The runs, turns and tool messages in the fixture. */
export const shopFigures = { threads: 3, runs: 6, model_calls: 9, tool_calls: 6 };

/** Writes a recording of these trajectories; returns its path. */
export function record(name: string, trajs: unknown[]): string {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'lanefold-replay-')), name);
  writeFileSync(file, JSON.stringify(trajs.map((traj) => ({ traj }))));
  return file;
}

/** `lanefold replay` on this database and the queue of the project. */
export const replayCli = (database: TestDatabase, file: string, ...options: string[]): Promise<CliResult> =>
  cli(['replay', file, ...options], {
    env: { DATABASE_URL: database.url, ...(queueBackend() === 'redis' ? { REDIS_URL: inject('redisUrl') } : {}) },
  });

/** The files of recorded conversations that `LANEFOLD_RECORDINGS` names; none without it. */
export function recordedFiles(): string[] {
  const recordings = process.env['LANEFOLD_RECORDINGS'];
  if (!recordings || !existsSync(recordings)) return [];
  if (!statSync(recordings).isDirectory()) return [recordings];
  return readdirSync(recordings)
    .filter((name) => name.endsWith('.json'))
    .map((name) => path.join(recordings, name));
}
