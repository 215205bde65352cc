import { randomBytes } from 'node:crypto';
import { createLanefold, defineAgent, type Lanefold } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { statements, urlAs } from '../support/citus.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { typedModel, type TypedModel } from '../support/typed-model.ts';
import { sqlOf } from './sql.ts';

const role = `api_${randomBytes(4).toString('hex')}`;

describe('a run that the role of an API accepts for a tenant', () => {
  let operator: TestLanefold;
  let api: Lanefold;
  let model: TypedModel;
  let sql: Awaited<ReturnType<typeof sqlOf>>;
  beforeAll(async () => {
    model = typedModel();
    const agents = [defineAgent({ name: 'typist', model: 'typed:m' })];
    operator = await startLanefold({ agents, models: { typed: () => model } });
    await operator.database.pool.query(
      `create role ${role} login password 'a'; select lanefold.grant_role('${role}', 'api')`,
    );
    api = await createLanefold({ ...operator.options, databaseUrl: urlAs(operator.database.url, role, 'a') });
    sql = await sqlOf(operator);
  });
  afterAll(async () => {
    await api?.close();
    await sql?.close();
    await statements(operator.database.url, `select lanefold.revoke_role('${role}')`, `drop role ${role}`);
    await operator.close();
  });

  test('waits in line for a slot, and no worker takes it', async () => {
    await operator.limits.set('line', { kind: 'concurrency', amount: 1, scope: { customer: 'acme' } });
    const { runs } = api.forTenant('acme');
    const ask = () => runs.enqueue({ agent: 'typist', input: 'go', limitKeys: { customer: 'acme' } });
    const first = await ask();
    // no worker has started, so only the process of the API can have noted this, and no run has the slot yet
    const second = await ask();
    expect(await runs.get(second)).toMatchObject({
      status: 'queued',
      startedAt: null,
      limitedBy: { limit: 'line' },
    });
    expect(await sql.usage('line')).toMatchObject([{ used: 0, waiting: 2 }]);

    await operator.startWorker();
    const keyboard = await model.next();
    expect(await runs.get(second)).toMatchObject({ status: 'queued', startedAt: null, limitedBy: { limit: 'line' } });
    keyboard.stop();
    await runs.wait(first);
    (await model.next()).stop();
    expect(await runs.wait(second)).toMatchObject({ status: 'completed', limitedBy: null });
    await sql.settled();
    expect(await sql.usage('line')).toMatchObject([{ used: 0, waiting: 0 }]);
  });
});
