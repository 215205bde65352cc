// @module-tag long
import { expect, test } from 'vitest';
import { ownDatabase, startProgram } from './program.ts';

const env = ownDatabase();

test('telemetry: one trace from the request to what the tool traced', async () => {
  const program = startProgram('examples/telemetry/main.ts', { env });
  const { code, output, errors } = await program.ended;
  expect([code, errors]).toEqual([0, '']);
  const lines = output.trim().split('\n');
  const spans = lines
    .map((line) => /^([0-9a-f]{4}) {2}([0-9a-f]{4}) {2}(?:root|below ([0-9a-f]{4})) +(\S+ ?\w*)/.exec(line))
    .filter((match) => match !== null)
    .map(([, trace, id, parent, name]) => ({ trace, id, parent, name: name!.split(' ')[0] }));
  expect(new Set(spans.map((span) => span.trace)).size).toBe(1);
  const nameOf = (id: string | undefined) => spans.find((span) => span.id === id)?.name ?? null;
  // sorted: the spans of a run are ended in batches
  expect(spans.map(({ name, parent }) => `${name} below ${nameOf(parent)}`).toSorted()).toEqual([
    'POST below null',
    'chat below invoke_agent',
    'chat below invoke_agent',
    'execute_tool below invoke_agent',
    'invoke_agent below POST',
    'query below execute_tool',
  ]);
  const tokens = (name: string) =>
    [...output.matchAll(new RegExp(`${name}=(\\d+)`, 'g'))].reduce((sum, [, count]) => sum + Number(count), 0);
  expect(output).toContain(`There are 12 lamps. (${tokens('input_tokens')} + ${tokens('output_tokens')} tokens)`);
});
