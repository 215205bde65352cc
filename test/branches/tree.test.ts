// @module-tag slow
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldContext, type FoldEntry } from '../../src/agent/context/fold.ts';
import type { JsonObject } from '../../src/agent/context/message.ts';
import { logOf, newThread, useLog } from '../db/helpers.ts';
import { history, play } from '../db/history.ts';
import { cases } from '../support/cases.ts';

const log = useLog();

interface Branch {
  context_ref: string;
  after_seq: number;
}

interface Logged {
  operation: { reason: string; meta?: { branch: Branch } };
}

/** Where the branches of a log begin: the first operation of each. */
function branchesIn(entries: FoldEntry[]): Map<string, Branch & { seq: number }> {
  const begun = new Map<string, Branch & { seq: number }>();
  const known = new Set<string>();
  for (const { seq, kind, context_ref: lane, payload } of entries) {
    if (kind !== 'ai_context_operation' || known.has(lane!)) continue;
    known.add(lane!);
    const { reason, meta } = (payload as unknown as Logged).operation;
    if (reason === 'branch' && meta) begun.set(lane!, { ...meta.branch, seq });
  }
  return begun;
}

const isMessage = ({ kind }: FoldEntry) => kind === 'ai_message';

/** The last message of a lane, and of those it left, up to an entry. */
function lastMessage(
  entries: FoldEntry[],
  begun: ReturnType<typeof branchesIn>,
  lane: string,
  upto: number,
): number | null {
  const own = entries.findLast((entry) => isMessage(entry) && entry.context_ref === lane && entry.seq <= upto);
  if (own) return own.seq;
  const branch = begun.get(lane);
  return branch ? lastMessage(entries, begun, branch.context_ref, Math.min(upto, branch.after_seq)) : null;
}

const rootOf = (begun: ReturnType<typeof branchesIn>, lane: string): string =>
  begun.has(lane) ? rootOf(begun, begun.get(lane)!.context_ref) : lane;

/** Branches after the last message, or at the beginning where that message waits for the results of its calls. */
async function branchAnyway(threadId: string): Promise<void> {
  const last = (await logOf(log.db, threadId)).findLast(isMessage)?.seq ?? -1;
  const branch = (afterSeq: number) => log.threads.branch(threadId, { afterSeq, busy: 'wait' });
  try {
    await branch(last);
  } catch (error) {
    expect(error).toMatchObject({ code: 'open_tool_group' });
    await branch(-1);
  }
}

test('whatever happens on a thread, its messages form a tree, and a branch begins with the context that it left', async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ prompt, actions }) => {
      const threadId = await newThread(log, prompt === undefined ? {} : { systemPrompt: prompt });
      const half = Math.floor(actions.length / 2);
      for (const action of actions.slice(0, half)) await play(log, threadId, action);
      await branchAnyway(threadId);
      for (const action of actions.slice(half)) await play(log, threadId, action);
      const entries = await logOf(log.db, threadId);
      const begun = branchesIn(entries);
      expect(begun.size).toBeGreaterThan(0);

      const parents = entries.filter(isMessage).map(({ seq, context_ref: lane }) => {
        const parent = lastMessage(entries, begun, lane!, seq - 1);
        return { seq, parent, family: parent === null ? rootOf(begun, lane!) : parent };
      });
      const expected = parents.map(({ seq, parent, family }) => {
        const siblings = parents.filter((other) => other.family === family).map((other) => other.seq);
        return { seq, parentSeq: parent, siblings: siblings.length, place: siblings.indexOf(seq) + 1 };
      });
      const { data } = await log.threads.tree(threadId, { limit: 1_000 });
      expect(data.map(({ seq, parentSeq, siblings, place }) => ({ seq, parentSeq, siblings, place }))).toEqual(
        expected,
      );

      const said = (lane: string, seq: number) =>
        foldContext(entries, lane, seq)
          .filter(({ role }) => role !== 'system')
          .map(
            ({ role, content, tool_calls: calls }): JsonObject => ({ role, content, calls }) as unknown as JsonObject,
          );
      for (const [lane, { context_ref: parent, after_seq: after, seq }] of begun)
        expect(said(lane, seq)).toEqual(said(parent, after));

      const lanes = await log.threads.branches(threadId);
      const { activeContextRef } = await log.threads.peek(threadId);
      for (const { contextRef, parentContextRef, branchedAfterSeq, branchSeq, rootContextRef, shown } of lanes) {
        const branch = begun.get(contextRef);
        expect([parentContextRef, branchedAfterSeq, branchSeq]).toEqual([
          branch?.context_ref ?? null,
          branch?.after_seq ?? null,
          branch?.seq ?? null,
        ]);
        expect(rootContextRef).toBe(rootOf(begun, contextRef));
        expect(shown).toBe(contextRef === activeContextRef);
      }
    }),
    { numRuns: cases(12) },
  );
});
