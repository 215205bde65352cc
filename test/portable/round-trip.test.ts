import fc from 'fast-check';
import { expect, test } from 'vitest';
import { logOf, newThread, refused, useLog } from '../db/helpers.ts';
import { history, play } from '../db/history.ts';
import { assertInvariants } from '../db/invariants.ts';
import { answer, asks, sqlRun } from '../db/sql-run.ts';
import { contextsOf, factsOf, linesOf } from './support.ts';

const log = useLog();
const user = (content: string) => ({ message: { role: 'user' as const, content } });

test('after an export and an import, every lane has the same context at every entry', async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ prompt, actions }) => {
      const id = await newThread(log, prompt === undefined ? {} : { systemPrompt: prompt });
      for (const action of actions) await play(log, id, action);
      const { rev } = await log.threads.peek(id);
      const lines = await linesOf(log.threads, id);
      const copy = await log.threads.import({ format: 'lanefold', lines }, { id: `${id}.copy` });

      expect(copy).toEqual({ id: `${id}.copy`, rev: rev + 1, duplicate: false, notes: [] });
      expect(await contextsOf(log.pool, copy.id, rev)).toEqual(await contextsOf(log.pool, id, rev));
      expect(await factsOf(log.pool, copy.id, rev)).toEqual(await factsOf(log.pool, id, rev));
      await assertInvariants(log.db, copy.id);
      // what the copy exports is the same up to its last entry
      const again = await linesOf(log.threads, copy.id);
      const entry = (line: string) => JSON.stringify({ ...(JSON.parse(line) as object), line: 0, hash: '' });
      const entriesOf = (all: string[]) => all.filter((line) => line.includes('"type":"entry"')).map(entry);
      expect(entriesOf(again).slice(0, -1)).toEqual(entriesOf(lines));
    }),
    { numRuns: 25 },
  );
});
