// @module-tag slow
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { callCli } from './call-cli.ts';

let database: TestDatabase;
let env: Record<string, string>;
beforeAll(async () => {
  database = await createDatabase();
  env = { DATABASE_URL: database.url };
});
afterAll(() => database?.drop());

const schedules = (...args: string[]) => callCli(['schedules', ...args], { env });
const told = (text: string) => expect.stringContaining(text) as string;

test('are set, shown as a table and as JSON, paused, resumed and removed', async () => {
  expect(await schedules()).toMatchObject({ code: 0, stdout: '', stderr: told('there are no schedules') });
  const report = ['--agent', 'assistant', '--input', 'Report of {{date}}'];
  const nightly = ['--cron', '0 2 * * *', '--time-zone', 'Europe/Berlin', '--start', '2099-01-01T00:00:00Z'];
  expect(await schedules('set', 'nightly', ...report, ...nightly)).toMatchObject({
    code: 0,
    stdout: 'nightly is set; next slot 2099-01-01T01:00:00.000Z\n',
  });
  const often = ['--every', '15m', '--thread', 'watch', '--overlap', 'queue', '--catch-up', 'all', '--jitter', '30s'];
  const set = await schedules('set', 'often', ...report, ...often, '--tenant', 'acme', '--json');
  expect(JSON.parse(set.stdout)).toMatchObject({
    name: 'often',
    tenant: 'acme',
    every_ms: 900_000,
    thread_id: 'watch',
    overlap: 'queue',
    catch_up: 'all',
    jitter_ms: 30_000,
    source: 'user',
    version: 1,
    updated_by: expect.stringMatching(/^cli:/) as string,
  });
  expect(await schedules('pause', 'often', '--tenant', 'acme')).toMatchObject({ code: 0, stdout: 'often is paused\n' });
  const { stdout } = await schedules();
  const rows = stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.trim().split(/ {2,}/));
  expect(rows).toEqual([
    ['name', 'tenant', 'agent', 'times', 'overlap', 'next'],
    expect.any(Array),
    ['often', 'acme', 'assistant', 'every 900 s', 'queue', 'paused'],
    ['nightly', 'default', 'assistant', '0 2 * * * (Europe/Berlin)', 'skip', '2099-01-01T01:00:00.000Z'],
  ]);
  const { data } = JSON.parse((await schedules('--json')).stdout) as { data: { next: string[] }[] };
  expect(data.map(({ next }) => next.length)).toEqual([0, 5]);
  expect((await schedules('resume', 'often', '--tenant', 'acme')).stdout).toBe('often is resumed\n');
  expect(await schedules('slots', 'nightly')).toMatchObject({ code: 0, stderr: told('no slot has come yet') });
  expect((await schedules('remove', 'nightly')).stdout).toBe('nightly is removed\n');
  expect(await schedules('remove', 'nightly')).toMatchObject({ code: 1, stderr: told('[schedule_not_found]') });
});

test('that make no sense are refused', async () => {
  const report = ['--agent', 'assistant', '--input', 'x'];
  for (const [args, problem] of [
    [[...report, '--cron', 'soon'], 'cron makes no sense'],
    [[...report], 'cron is missing'],
    [[...report, '--cron', '@daily', '--time-zone', 'Mars'], 'timeZone is not an IANA time zone'],
    [[...report, '--cron', '@daily', '--start', 'soon'], 'It must be a time'],
    [['--agent', 'nobody', '--input', 'x', '--cron', '@daily'], '[unknown_agent]'],
  ] as const)
    expect(await schedules('set', 'bad', ...args)).toMatchObject({ code: 2, stderr: told(problem) });
  expect((await schedules('set', 'bad')).code).toBe(2);
  expect((await schedules('set', 'bad', ...report, '--every', '15')).code).toBe(2);
  expect((await schedules('list', '--json')).stdout).not.toContain('bad');
});
