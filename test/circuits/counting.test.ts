// @module-tag slow
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cases } from '../support/cases.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { noRedis } from '../support/lanefold.ts';

const rule = { window_ms: 1_000, share: 0.5, min_calls: 4, open_ms: 300, probe_ms: 200 };

interface Row {
  state: 'closed' | 'open' | 'half_open';
  opened_at: string | null;
  open_until: string | null;
  probe_until: string | null;
  probe: string | null;
  opened_by: string | null;
  reason: string | null;
  turns: number;
  ok: number;
  failed: number;
  ok_before: number;
  failed_before: number;
}

type Step = { after: number } & (
  | { does: 'count'; ok: number; failed: number; wait: number | null }
  | { does: 'ask' }
  | { does: 'tell'; late: boolean; outcome: 'ok' | 'failed' | 'lost' | 'goes on'; wait: number | null }
);

const after = fc.integer({ min: 0, max: 600 });
const wait = fc.option(fc.integer({ min: 1, max: 900 }), { freq: 3 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ after, does: fc.constant('count' as const), ok: fc.nat(3), failed: fc.nat(3), wait }),
  fc.record({ after, does: fc.constant('ask' as const) }),
  fc.record({
    after,
    does: fc.constant('tell' as const),
    late: fc.boolean(),
    outcome: fc.constantFrom('ok' as const, 'failed' as const, 'lost' as const, 'goes on' as const),
    wait,
  }),
);

/** What each step does to a circuit, by the functions of the database, all in one statement. */
const play = `
  create function pg_temp.play(p_steps jsonb, p_rule jsonb) returns setof jsonb language plpgsql as $$
  declare
    c lanefold._circuit;
    s jsonb;
    v_at timestamptz := '2026-01-01T00:00:00Z';
    v_no int := 0;
  begin
    c.model := 'm'; c.state := 'closed'; c.turns := 0; c.half_at := v_at; c.updated_at := v_at;
    c.ok := 0; c.failed := 0; c.ok_before := 0; c.failed_before := 0;
    for s in select value from jsonb_array_elements(p_steps) loop
      v_at := v_at + (s ->> 'after')::int * interval '1 ms';
      v_no := v_no + 1;
      if s ->> 'does' = 'count' then
        c := lanefold._circuit_counted(c, (s ->> 'ok')::int, (s ->> 'failed')::int, (s ->> 'wait')::bigint, 'overloaded', v_at, p_rule);
      elsif s ->> 'does' = 'ask' then
        c := lanefold._circuit_asked(c, 'probe ' || v_no, v_at, p_rule);
      else
        c := lanefold._circuit_probed(c, case when (s ->> 'late')::bool then 'another' else c.probe end, s ->> 'outcome', (s ->> 'wait')::bigint, 'overloaded', v_at, p_rule);
      end if;
      return next to_jsonb(c) || jsonb_build_object('at', v_at);
    end loop;
  end $$`;

describe.skipIf(noRedis())('what becomes of a circuit', () => {
  let database: TestDatabase;
  beforeAll(async () => (database = await createDatabase()));
  afterAll(() => database?.drop());

  const played = async (steps: readonly Step[]): Promise<(Row & { at: string })[]> => {
    const client = await database.pool.connect();
    try {
      await client.query('begin');
      await client.query(play);
      const { rows } = await client.query<{ play: Row & { at: string } }>('select pg_temp.play($1, $2) as play', [
        JSON.stringify(steps),
        rule,
      ]);
      return rows.map((row) => row.play);
    } finally {
      await client.query('rollback');
      client.release();
    }
  };
  const ms = (time: string) => new Date(time).getTime();

  test('follows from its row and what happened, whatever happens', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
        const rows = await played(steps);
        let before: Row = { state: 'closed', turns: 0, probe: null } as Row;
        for (const [no, row] of rows.entries()) {
          const done = steps[no]!;
          const counted = row.ok + row.failed + row.ok_before + row.failed_before;
          // one of three states, and each says the same in all its columns
          expect(row.opened_at === null).toBe(row.state === 'closed');
          expect(row.reason === null).toBe(row.state === 'closed');
          expect(row.probe !== null).toBe(row.state === 'half_open');
          expect(row.turns - before.turns).toBe(Number((row.state === 'closed') !== (before.state === 'closed')));
          // it opens for a share of enough calls alone
          if (before.state === 'closed' && row.state !== 'closed') {
            expect(done).toMatchObject({ does: 'count' });
            expect(counted).toBeGreaterThanOrEqual(rule.min_calls);
            expect(row.failed + row.failed_before).toBeGreaterThanOrEqual(rule.share * counted);
          }
          if (row.state === 'closed' && done.does === 'count' && done.failed > 0 && counted >= rule.min_calls)
            expect(row.failed + row.failed_before).toBeLessThan(rule.share * counted);
          // it closes for the answer to its own probe alone
          if (before.state !== 'closed' && row.state === 'closed') {
            expect(done).toMatchObject({ does: 'tell', late: false, outcome: 'ok' });
            expect(before.state).toBe('half_open');
          }
          // one probe at a time, and only once the circuit is due
          if (row.probe !== before.probe && row.probe !== null) {
            expect(done.does).toBe('ask');
            if (before.state === 'half_open') expect(ms(before.probe_until!)).toBeLessThanOrEqual(ms(row.at));
            else expect(ms(before.open_until!)).toBeLessThanOrEqual(ms(row.at));
          }
          // and a circuit that is due gets one
          if (done.does === 'ask' && before.state === 'open' && ms(before.open_until!) <= ms(row.at))
            expect(row.probe).toBe(`probe ${no + 1}`);
          before = row;
        }
      }),
      { numRuns: cases(60) },
    );
  });

  const count = (failed: number, ok = 0, more: Partial<Extract<Step, { does: 'count' }>> = {}): Step => ({
    after: 0,
    does: 'count',
    ok,
    failed,
    wait: null,
    ...more,
  });
  const ask = (after: number): Step => ({ after, does: 'ask' });
  const tell = (outcome: 'ok' | 'failed' | 'lost' | 'goes on', after = 0, wait: number | null = null): Step => ({
    after,
    does: 'tell',
    late: false,
    outcome,
    wait,
  });
  const last = async (...steps: Step[]) => (await played(steps)).at(-1)!;

  test.each([
    ['too few calls', [count(3)], 'closed'],
    ['enough calls', [count(4)], 'open'],
    ['too small a share', [count(3, 4)], 'closed'],
    ['the share of it', [count(4, 4)], 'open'],
    ['failures of both halves of the window', [count(2), count(2, 0, { after: 600 })], 'open'],
    ['failures before the window', [count(3), count(1, 0, { after: 1_500 })], 'closed'],
    ['answers alone, after failures that were too few', [count(3), count(0, 1)], 'closed'],
  ] as const)('opens by %s', async (_, steps, state) => {
    expect((await last(...steps)).state).toBe(state);
  });

  test('is open for as long as the rule says, or the provider', async () => {
    const rows = await played([count(4), count(4, 0, { wait: 800 })]);
    expect(rows.map(({ open_until, at }) => ms(open_until!) - ms(at))).toEqual([300, 800]);
    const [, , failed] = await played([count(4), ask(300), tell('failed', 10, 700)]);
    expect(ms(failed!.open_until!) - ms(failed!.at)).toBe(700);
    expect(failed!.opened_at).toBe((await last(count(4))).opened_at);
  });

  test('is probed by one call at a time, and by the next one once a probe is lost', async () => {
    expect((await last(count(4), ask(299))).state).toBe('open');
    expect(await last(count(4), ask(300), ask(199))).toMatchObject({ state: 'half_open', probe: 'probe 2' });
    expect(await last(count(4), ask(300), ask(200))).toMatchObject({ state: 'half_open', probe: 'probe 3' });
    expect(await last(count(4), ask(300), tell('goes on', 150), ask(150))).toMatchObject({ probe: 'probe 2' });
    expect(await last(count(4), ask(300), tell('lost'), ask(0))).toMatchObject({ probe: 'probe 4' });
  });

  test('counts afresh once a probe is answered', async () => {
    expect(await last(count(4), ask(300), tell('ok'))).toMatchObject({ state: 'closed', turns: 2, failed: 0 });
    expect(await last(count(4), ask(300), tell('ok'), count(3))).toMatchObject({ state: 'closed', failed: 3 });
  });
});
