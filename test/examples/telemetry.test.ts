// @module-tag long
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { startProgram } from './program.ts';

let database: TestDatabase;
beforeAll(async () => void (database = await createDatabase()));
afterAll(() => database?.drop());

test('telemetry: one trace from the request to what the tool traced', async () => {
  const program = startProgram('examples/telemetry/main.ts', { env: { DATABASE_URL: database.url } });
  const { code, output, errors } = await program.ended;
  expect([code, errors]).toEqual([0, '']);
  const lines = output.trim().split('\n');
  const spans = lines
    .map((line) => /^([0-9a-f]{4}) {2}([0-9a-f]{4}) {2}(?:root|below ([0-9a-f]{4})) +(\S+ ?\w*)/.exec(line))
    .filter((match) => match !== null)
    .map(([, trace, id, parent, name]) => ({ trace, id, parent, name: name!.split(' ')[0] }));
  expect(new Set(spans.map((span) => span.trace)).size).toBe(1);
  const nameOf = (id: string | undefined) => spans.find((span) => span.id === id)?.name ?? null;
  expect(spans.map(({ name, parent }) => [name, nameOf(parent)])).toEqual([
    ['POST', null],
    ['chat', 'invoke_agent'],
    ['query', 'execute_tool'],
    ['execute_tool', 'invoke_agent'],
    ['chat', 'invoke_agent'],
    ['invoke_agent', 'POST'],
  ]);
  const tokens = (name: string) =>
    [...output.matchAll(new RegExp(`${name}=(\\d+)`, 'g'))].reduce((sum, [, count]) => sum + Number(count), 0);
  expect(output).toContain(`There are 12 lamps. (${tokens('input_tokens')} + ${tokens('output_tokens')} tokens)`);
});
