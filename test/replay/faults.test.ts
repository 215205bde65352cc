// @module-tag long
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { replayCli, shopFile } from './setup.ts';

/** A replay must detect a database that changes what it stores; otherwise 0 mismatches would mean nothing. */
describe('a replay finds', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createDatabase();
  });
  afterEach(() => database.drop());

  const onInsert = async (statement: string) => {
    await database.pool.query(
      `create function meddle() returns trigger language plpgsql as $$ begin ${statement} return new; end $$;
       create trigger meddle before insert on lanefold._entry for each row execute function meddle()`,
    );
  };
  const found = async () => {
    const { code, stdout } = await replayCli(database, shopFile, '--json');
    const report = JSON.parse(stdout) as { mismatches: number; first_mismatches: Record<string, unknown>[] };
    expect(report.mismatches).toBe(report.first_mismatches.length);
    return { code, mismatches: report.first_mismatches };
  };

  test('a character lost on the way to the database', async () => {
    await onInsert(
      `if new.payload ->> 'content' = 'Let me look.' then new.payload := jsonb_set(new.payload, '{content}', '"Let me look"'); end if;`,
    );
    const { code, mismatches } = await found();
    expect(code).toBe(1);
    const difference = {
      thread: 'shop:0',
      message: 2,
      field: 'content',
      expected: 'Let me look.',
      received: 'Let me look',
    };
    // The next run sends what the database has; the run itself did not, and its hashes show it.
    expect(mismatches).toContainEqual({ at: 'model_call', ...difference });
    expect(mismatches).toContainEqual({ at: 'lane_context', ...difference });
    expect(mismatches.filter(({ at }) => at === 'context_hash').map(({ message }) => message)).toEqual([5, 7]);
    expect(mismatches).toHaveLength(4);
  });

  test('a changed argument, id and prompt', async () => {
    await onInsert(`
      if new.thread_id = 'shop:0' and new.kind = 'ai_config_change' then new.payload := jsonb_set(new.payload, '{value}', '"You run a bank."'); end if;
      if new.thread_id = 'shop:1' and new.role = 'assistant' then new.payload := jsonb_set(new.payload, '{tool_calls,0,arguments}', '{"to": "nobody"}'); end if;
      if new.thread_id = 'shop:2' and new.role = 'tool' then new.payload := jsonb_set(new.payload, '{tool_call_id}', '"b"'); end if;`);
    const { code, mismatches } = await found();
    expect(code).toBe(1);
    const projected = mismatches
      .filter(({ at }) => at === 'lane_context')
      .map(({ thread, message, field }) => [thread, message, field]);
    expect(projected.sort()).toEqual([
      ['shop:0', 0, 'content'],
      ['shop:1', 1, 'tool_calls[0].arguments'],
      ['shop:2', 3, 'tool_call_id'],
    ]);
  });

  test('a failed run', async () => {
    await onInsert(`if new.payload ->> 'content' = 'It is 1.' then raise exception 'out of order'; end if;`);
    const { code, mismatches } = await found();
    expect(code).toBe(1);
    expect(mismatches).toContainEqual(
      expect.objectContaining({
        thread: 'shop:2',
        at: 'run',
        message: 8,
        expected: 'final_answer',
        received: expect.stringContaining('out of order') as string,
      }),
    );
    expect(mismatches).toContainEqual(
      expect.objectContaining({ thread: 'shop:2', at: 'lane_context', message: 9, received: '(nothing)' }),
    );
  });

  test('an entry that another client wrote into the thread', async () => {
    await database.pool.query(`
      create function meddle() returns trigger language plpgsql as $$ begin
        if new.id = 'shop:1' then
          perform lanefold.append_entries(new.id, '[{"kind": "ai_message", "payload": {"role": "user", "content": "First!"}}]');
        end if;
        return null;
      end $$;
      create trigger meddle after insert on lanefold.thread for each row execute function meddle()`);
    const { code, mismatches } = await found();
    const difference = { thread: 'shop:1', message: 0, expected: 'Get me a human.', received: 'First!' };
    expect([code, mismatches]).toMatchObject([
      1,
      [
        { at: 'model_call', ...difference },
        { at: 'lane_context', ...difference },
      ],
    ]);
  });
});
