// @module-tag slow
import { expect, test } from 'vitest';
import { startProgram } from '../examples/program.ts';

test('a process may load the input of AG-UI before the API, which extends Zod', async () => {
  const program = startProgram('test/api/fixtures/ag-ui-first.ts');
  const { code, output, errors } = await program.ended;
  expect(code, errors).toBe(0);
  expect(output.trim()).toBe('threadId,runId,messages');
});
