// @module-tag long
import { defineAgent, type EnqueueOptions, type RunRef } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patient } from '../faults/harness.ts';
import { sqlOf } from '../limits/sql.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { onCitus } from '../support/services.ts';
import { typedModel, type TypedModel } from '../support/typed-model.ts';
import { until } from '../support/until.ts';
import { accepts } from './follow.ts';
import { canCheck, lineModel } from './spin.ts';

/** The actions of model/line.pml, from number 1 on. */
const kinds = ['line', 'grant', 'work', 'leave', 'end'] as const;
interface Action {
  kind: (typeof kinds)[number];
  run: number;
}

/** Triggers that know nothing of the code under test: they compare the rows of the accounts before and after. */
const recording = `
  create schema history;
  create table history.line (n bigint generated always as identity, kind text, run_id text);
  create function history.account() returns trigger language plpgsql security definer as $$ begin
    if tg_op = 'DELETE' then
      insert into history.line (kind, run_id) values (case when old.wants is null then 'end' else 'leave' end, old.run_id);
    elsif new.wants is not null and old.wants is null then
      insert into history.line (kind, run_id) values ('line', new.run_id);
    elsif new.grants is not null and old.grants is null then
      insert into history.line (kind, run_id) values ('grant', new.run_id);
    elsif new.holds <> '{}' and old.holds = '{}' then
      if old.grants is null then
        insert into history.line (kind, run_id) values ('grant', new.run_id);
      end if;
      insert into history.line (kind, run_id) values ('work', new.run_id);
    end if;
    return null; end $$;
  create trigger history after update or delete on lanefold._limit_account for each row execute function history.account();`;

/** Two limits, of which the model has three runs: how much there is of each, and how much of each a run needs. */
const capacity = { one: 1, two: 2 };
const needOf = { both: [1, 1], one: [1, 0], two: [0, 1] };

function source(traces: readonly (readonly Action[])[], needs: readonly (readonly number[])[]): string {
  const all = traces.flat();
  return [
    '#define LIMITS 2',
    '#define FAULTS 3',
    `#define TRACES ${traces.length}`,
    `#define TRACE ${traces[0]!.length}`,
    `#define TRACE_KINDS { ${all.map(({ kind }) => kinds.indexOf(kind) + 1).join(', ')} }`,
    `#define TRACE_RUNS { ${all.map(({ run }) => run).join(', ')} }`,
    `#define TRACE_NEEDS { ${needs.flat().join(', ')} }`,
    `#define TRACE_CAPACITY { ${Object.values(capacity).join(', ')} }`,
    `#include "${lineModel}"`,
    '',
  ].join('\n');
}

/** The actions with one thing wrong each, none of which can happen: something is missing, twice, or of another run. */
const damaged = (actions: readonly Action[]): Action[][] => [
  ...actions.flatMap(({ kind }, n) => (kind === 'end' ? [] : [[...actions.toSpliced(n, 1), actions[n]!]])),
  ...actions.map(({ kind, run }, n) => actions.with(n, { kind, run: (run + 1) % 3 })),
  ...actions.flatMap(({ kind, run }, n) => (kind === 'line' ? [actions.with(n, { kind: 'grant', run })] : [])),
];

describe.skipIf(onCitus || !canCheck())('the model of the line can do what real runs did', () => {
  let lanefold: TestLanefold;
  let model: TypedModel;
  let sql: Awaited<ReturnType<typeof sqlOf>>;
  beforeAll(async () => {
    model = typedModel();
    lanefold = await startLanefold({
      agents: [defineAgent({ name: 'typist', model: 'typed:m' })],
      models: { typed: () => model },
    });
    sql = await sqlOf(lanefold);
    await sql.rows(recording);
    for (const [name, amount] of Object.entries(capacity))
      await sql.setLimit(name, { kind: 'concurrency', scope: { [name]: '*' }, amount });
    await lanefold.startWorker({ ...patient, concurrency: 8 });
  });
  afterAll(async () => {
    await sql?.close();
    await lanefold?.close();
  });

  const keysOf = (needs: keyof typeof needOf, key: string) => ({
    ...(needs === 'two' ? {} : { one: key }),
    ...(needs === 'one' ? {} : { two: key }),
  });
  const ask = (key: string, needs: keyof typeof needOf, more: Partial<EnqueueOptions> = {}) =>
    lanefold.runs.enqueue({ agent: 'typist', input: needs, limitKeys: keysOf(needs, key), ...more });
  const waits = (run: RunRef) => until('the run waits', async () => (await lanefold.runs.get(run)).limitedBy !== null);
  /** Resolves once the model is asked; the returned function lets it answer. */
  const works = async () => {
    const keyboard = await model.next();
    return () => {
      keyboard.type('Done.');
      keyboard.stop();
    };
  };

  /** @param runs what they need, in the order of the line */
  async function followed(runs: [RunRef, keyof typeof needOf][], expected: string[]): Promise<void> {
    await sql.settled();
    const ids = runs.map(([{ id }]) => id);
    const rows = await sql.rows<{ kind: Action['kind']; run_id: string }>(
      'select kind, run_id from history.line where run_id = any ($1) order by n',
      [ids],
    );
    const actions = rows.map(({ kind, run_id }): Action => ({ kind, run: ids.indexOf(run_id) }));
    const told = actions.map(({ kind, run }) => `${kind} ${run}`);
    expect(told).toEqual(expected);
    const needs = runs.map(([, need]) => needOf[need]);
    expect(await accepts(source([actions], needs)), told.join(', ')).toBe(true);
    expect(await accepts(source(damaged(actions), needs)), `a damaged copy of ${told.join(', ')}`).toBe(false);
  }

  test('of which one waited for both limits, and another passed it to one that it could not use', async () => {
    const first = await ask('pass', 'one');
    const answerFirst = await works();
    const second = await ask('pass', 'both');
    await waits(second);
    const third = await ask('pass', 'two');
    const answerThird = await works();
    answerFirst();
    const answerSecond = await works();
    answerThird();
    answerSecond();
    for (const run of [first, second, third])
      expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed' });
    await sql.settled();
    const order: [RunRef, keyof typeof needOf][] = [
      [first, 'one'],
      [second, 'both'],
      [third, 'two'],
    ];
    const kept = ['grant 0', 'work 0', 'line 1', 'grant 2', 'work 2', 'end 0', 'grant 1', 'work 1'];
    await followed(order, [...kept, ...(await ends(second, third, 1, 2))]);
  });

  test('of which the last one had priority', async () => {
    const first = await ask('prior', 'both');
    const answerFirst = await works();
    const second = await ask('prior', 'both', { priority: 5 });
    await waits(second);
    const third = await ask('prior', 'both', { priority: 1 });
    await waits(third);
    answerFirst();
    (await works())();
    (await works())();
    for (const run of [first, second, third])
      expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed' });
    await followed(
      [
        [first, 'both'],
        [third, 'both'],
        [second, 'both'],
      ],
      ['grant 0', 'work 0', 'line 2', 'line 1', 'end 0', 'grant 1', 'work 1', 'end 1', 'grant 2', 'work 2', 'end 2'],
    );
  });

  test('of which one was cancelled while it waited', async () => {
    const first = await ask('gone', 'both');
    const answerFirst = await works();
    const second = await ask('gone', 'both');
    await waits(second);
    const third = await ask('gone', 'one');
    await waits(third);
    await lanefold.runs.cancel(second);
    answerFirst();
    (await works())();
    for (const run of [first, third]) expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed' });
    expect(await lanefold.runs.wait(second)).toMatchObject({ status: 'cancelled' });
    await followed(
      [
        [first, 'both'],
        [second, 'both'],
        [third, 'one'],
      ],
      ['grant 0', 'work 0', 'line 1', 'line 2', 'leave 1', 'end 0', 'grant 2', 'work 2', 'end 2'],
    );
  });

  /** In which order two runs ended, which is theirs to decide. */
  async function ends(a: RunRef, b: RunRef, ...numbers: [number, number]): Promise<string[]> {
    const rows = await sql.rows<{ run_id: string }>(
      "select run_id from history.line where kind = 'end' and run_id in ($1, $2) order by n",
      [a.id, b.id],
    );
    return rows.map(({ run_id }) => `end ${run_id === a.id ? numbers[0] : numbers[1]}`);
  }
});
