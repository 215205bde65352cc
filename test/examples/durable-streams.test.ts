// @module-tag long
import { expect, test } from 'vitest';
import { ownDatabase, startProgram } from './program.ts';

const env = ownDatabase();

test('a reader that stops and continues has each event of a run once, and a stream its note', async () => {
  const program = startProgram('examples/durable-streams/main.ts', { env });
  const { code, output, errors } = await program.ended;
  expect({ code, errors }).toEqual({ code: 0, errors: '' });
  expect(output).toMatch(/^continue at 0{16}_\d{16}$/m);
  const events = [...output.matchAll(/^(\d+) (\w+)$/gm)];
  expect(events.map(([, seq]) => Number(seq))).toEqual(events.map((_, n) => n));
  expect(events.map(([, , kind]) => kind)).toContain('request_completed');
  expect(output).toMatch(/^notes \[\{"note":"Asked for the order\."\}\]$/m);
});
