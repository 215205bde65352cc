// @module-tag slow
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cli } from '../cli/cli.ts';
import { until } from '../support/until.ts';
import { emptyFolder } from './folder.ts';
import { startProgram } from './program.ts';

let folder: ReturnType<typeof emptyFolder>;
beforeAll(() => void (folder = emptyFolder()));
afterAll(() => folder.remove());

test('a receiver is told of the end of a run, and verifies it', async () => {
  const program = startProgram('examples/webhook-receiver/main.ts', { cwd: folder.path });
  await program.says(/^run\.completed \{.*"result":/m);
  const deliveries = await until('it is recorded', async () => {
    const { code, stdout } = await cli(['webhooks', 'deliveries', 'orders'], { cwd: folder.path });
    return code === 0 && / delivered /.test(stdout) && stdout;
  });
  expect(deliveries).toMatch(/^msg_\w+ +run\.completed +20\S+Z +delivered +1 +204$/m);
  program.stop();
  expect(await program.ended).toMatchObject({ code: 0, errors: '' });
});
