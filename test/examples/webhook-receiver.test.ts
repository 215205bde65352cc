// @module-tag long
import { expect, test } from 'vitest';
import { callCli } from '../cli/call-cli.ts';
import { until } from '../support/until.ts';
import { ownDatabase, startProgram } from './program.ts';

const env = ownDatabase();

test('a receiver is told of the end of a run, and verifies it', async () => {
  const program = startProgram('examples/webhook-receiver/main.ts', { env });
  await program.says(/^run\.completed \{.*"result":/m);
  const deliveries = await until('it is recorded', async () => {
    const { code, stdout } = await callCli(['webhooks', 'deliveries', 'orders'], { env });
    return code === 0 && / delivered /.test(stdout) && stdout;
  });
  expect(deliveries).toMatch(/^msg_\w+ +run\.completed +20\S+Z +delivered +1 +204$/m);
  program.stop();
  expect(await program.ended).toMatchObject({ code: 0, errors: '' });
});
