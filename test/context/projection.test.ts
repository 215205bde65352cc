import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { foldContext, type ContextRow, type FoldEntry } from '../../src/agent/context/fold.ts';
import { everythingOf, logOf, newThread, openLog, rows, type TestLog } from '../db/helpers.ts';
import { assertInvariants } from '../db/invariants.ts';
import { cases } from '../support/cases.ts';
import { history, lanes, play } from '../db/history.ts';

let log: TestLog;
beforeAll(async () => void (log = await openLog()));
afterAll(() => log.drop());

const columns = `anchor_seq::float8, ordinal::float8, seq::float8, role, content, tool_calls, tool_call_id, name, thinking,
  reasoning_details, provider_metadata, run_id, request_id, refs`;

/** The context of a lane according to SQL, as of every seq from -1 to `last`. */
async function contextsInSql(threadId: string, contextRef: string, last: number): Promise<Map<number, ContextRow[]>> {
  const found = await rows<ContextRow & { upto: number }>(
    log.db,
    `select u.upto::float8, c.* from generate_series(-1, $3::bigint) u (upto)
     cross join lateral (select ${columns} from lanefold.lane_context_at($1, $2, u.upto)) c order by u.upto, c.ordinal`,
    threadId,
    contextRef,
    last,
  );
  const contexts = new Map<number, ContextRow[]>();
  for (let seq = -1; seq <= last; seq++) contexts.set(seq, []);
  for (const { upto, ...row } of found) contexts.get(upto)!.push(row);
  return contexts;
}

/** Whether an entry may change the context of a lane at all. */
const concerns = (entry: FoldEntry, lane: string): boolean =>
  entry.kind === 'ai_config_change'
    ? entry.context_ref === null || entry.context_ref === lane
    : entry.context_ref === lane && (entry.kind === 'ai_message' || entry.is_anchor);

test('SQL and the fold agree on every lane at every seq', async () => {
  const numRuns = cases(10);
  let contextsCompared = 0;
  await fc.assert(
    fc.asyncProperty(history, async (actions) => {
      const threadId = await newThread(log, actions.prompt === undefined ? {} : { systemPrompt: actions.prompt });
      for (const action of actions.actions) await play(log, threadId, action);
      const entries = await logOf(log.db, threadId);
      const head = entries.length - 1;
      const branched = entries.flatMap((entry) => entry.context_ref ?? []);
      for (const lane of new Set([...lanes, 'never', ...branched])) {
        const inSql = await contextsInSql(threadId, lane, head + 2);
        for (const [seq, context] of inSql) {
          expect(context).toEqual(foldContext(entries, lane, seq));
          if (context.length > 0) contextsCompared++;
          const entry = entries[seq];
          if (seq > head || (entry && !concerns(entry, lane))) expect(context).toEqual(inSql.get(seq - 1));
        }
        const now = await rows<ContextRow>(
          log.db,
          `select ${columns} from lanefold.lane_context where thread_id = $1 and context_ref = $2 order by ordinal`,
          threadId,
          lane,
        );
        const known = entries.some(
          (e) => e.context_ref === lane && ['ai_message', 'ai_context_operation'].includes(e.kind),
        );
        expect(now).toEqual(known ? inSql.get(head) : []);
        expect(await log.contexts.project(threadId, { contextRef: lane })).toEqual(inSql.get(head));
      }
      const before = await everythingOf(log.db, threadId);
      await rows(log.db, 'select lanefold.rebuild_lanes($1)', threadId);
      expect(await everythingOf(log.db, threadId)).toEqual(before);
    }),
    { numRuns },
  );
  await assertInvariants(log.db);
  expect(contextsCompared).toBeGreaterThan(2.5 * numRuns);
});
