import { defineAgent } from 'lanefold';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { expectSound } from '../support/log.ts';

/** Has the database refuse every entry for which the condition holds: by a constraint, as Citus takes no trigger. */
async function refuseEntries(lanefold: TestLanefold, condition: string): Promise<void> {
  const { pool } = lanefold.database;
  await pool.query(
    `create function lanefold.refuse(p_refused boolean) returns boolean language plpgsql as
       $$ begin if p_refused then raise exception using errcode = '54000', message = 'out of room'; end if; return true; end $$`,
  );
  await pool.query('grant execute on function lanefold.refuse to public');
  await pool.query(`alter table lanefold._entry add check (lanefold.refuse(${condition}))`);
}

describe('a run that the database cannot hand to a worker', () => {
  let lanefold: TestLanefold;
  const errors: unknown[] = [];
  beforeEach(async () => {
    lanefold = await startLanefold({ agents: [defineAgent({ name: 'a', model: 'scripted:echo' })] });
    errors.length = 0;
  });
  afterEach(() => lanefold?.close());
  /** What the worker said of the claims; a machine that is slow gives it more to say. */
  const refused = () => errors.filter((error) => String(error).includes('out of room'));
  const startWorker = (options = {}) =>
    lanefold.startWorker({ ...options, onError: (error) => void errors.push(error) });

  test('is tried again, ends as claim_failed with what the database said, and frees its thread', async () => {
    await refuseEntries(lanefold, `payload ->> 'content' = 'stuck'`);
    const run = await lanefold.runs.enqueue({ agent: 'a', input: 'stuck' });
    const next = await lanefold.runs.enqueue({ agent: 'a', threadId: run.threadId, input: 'next', busy: 'wait' });
    const other = await lanefold.runs.enqueue({ agent: 'a', input: 'other' });
    await startWorker({ maxClaimsWithoutProgress: 3 });
    expect(await lanefold.runs.wait(run)).toMatchObject({
      status: 'failed',
      terminationReason: 'error',
      error: { type: 'claim_failed', message: expect.stringContaining('out of room') },
    });
    expect(refused()).toHaveLength(2);
    for (const { threadId, id } of [next, other]) {
      expect(await lanefold.runs.wait({ threadId, id })).toMatchObject({ status: 'completed' });
    }
    await expectSound(lanefold, run.threadId);
  });

  test('ends with less where its end cannot be written either', { tags: 'slow' }, async () => {
    await refuseEntries(lanefold, `payload ->> 'content' = 'stuck' or kind <> 'ai_message'`);
    const run = await lanefold.runs.enqueue({ agent: 'a', input: 'stuck' });
    const { threadId } = run;
    // both are deferred until the run ends
    await lanefold.contexts.replace(threadId, { entries: [{ role: 'user', content: 'anew' }] }, { opId: 'anew' });
    await lanefold.threads.configure(threadId, { systemPrompt: 'Be brief.' });
    await startWorker();
    expect((await lanefold.runs.wait(run)).error).toEqual({
      type: 'claim_failed',
      message: expect.stringContaining('out of room'),
      skipped: ['operation', 'configuration'],
    });
    // by default the fifth claim ends it
    expect(refused()).toHaveLength(4);
    const { rows } = await lanefold.database.pool.query('select op_id, status from lanefold.context_op');
    expect(rows).toEqual([{ op_id: 'anew', status: 'stale' }]);
    await expectSound(lanefold, threadId);
  });
});
