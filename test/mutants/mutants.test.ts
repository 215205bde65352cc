// @module-tag long
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { onCitus } from '../support/services.ts';
import { mutants } from './mutants.ts';

// in a process of its own, because it is a Vitest whose tests see broken functions and modules
test.skipIf(onCitus)('each mistake is noticed by the test that is named for it', async () => {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST')));
  const run = promisify(execFile)('npx', ['tsx', 'test/mutants/main.ts'], { env });
  const { stdout } = await run.catch((error: { stdout: string; stderr: string }) => error);
  expect(stdout).toContain(`${mutants.length} mistakes, all noticed.`);
});
