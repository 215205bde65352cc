// @module-tag slow
import { afterEach, beforeEach, expect, test } from 'vitest';
import { callCli } from '../cli/call-cli.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { startProgram, type Program } from './program.ts';

let database: TestDatabase;
const programs: Program[] = [];
beforeEach(async () => void (database = await createDatabase()));
afterEach(async () => {
  for (const program of programs.splice(0)) {
    program.stop();
    await program.ended;
  }
  await database.drop();
});

function shop(): Program {
  const program = startProgram('examples/order-payment/main.ts', { env: { DATABASE_URL: database.url, PORT: '0' } });
  programs.push(program);
  return program;
}
const linkOf = async (program: Program) => (await program.says(/^pay at (http\S+\/signed\/events\/\S+)$/m))[1]!;
const pay = async (link: string) => {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(link, { method: 'POST', headers, body: '{"euros":40}' });
  return { status: answer.status, body: (await answer.json()) as object };
};

test('an order is paid at its link, even before the agent waits', async () => {
  const program = shop();
  expect(await pay(await linkOf(program))).toMatchObject({ status: 200, body: { event: 'order:A-17:paid' } });
  const { code, output, errors } = await program.ended;
  expect([code, errors]).toEqual([0, '']);
  expect(output).toContain('invoice for order A-17: 40 euros\n');
  expect(output).toMatch(/^completed: .*request_payment says \{"euros":40\}/m);
});

test('an order that waits survives its process, and is paid at the link of the next one', async () => {
  const first = shop();
  const link = await linkOf(first);
  await until('the agent waits', async () => {
    const { stdout } = await callCli(['waits', '--event', 'order:A-17:paid', '--json'], {
      env: { DATABASE_URL: database.url },
    });
    return (JSON.parse(stdout) as { data: object[] }).data.length === 1;
  });
  first.stop();
  expect(await first.ended).toMatchObject({
    code: 0,
    output: expect.stringContaining('continue') as string,
    errors: '',
  });

  const second = shop();
  const next = await linkOf(second);
  const stale = next.slice(0, next.lastIndexOf('/') + 1) + link.slice(link.lastIndexOf('/') + 1);
  expect(await pay(stale)).toMatchObject({ status: 400, body: { code: 'invalid_event_token' } });
  expect(await pay(next)).toEqual({ status: 200, body: { event: 'order:A-17:paid', resolved: 1 } });
  expect(await second.ended).toMatchObject({ code: 0, output: expect.stringMatching(/^completed: /m) as string });
  expect(second.said()).not.toContain('invoice');
});
