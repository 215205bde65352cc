// @module-tag long
import path from 'node:path';
import { createLanefold, type EvalCase, type Lanefold } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canonicalMessage, contextHash } from '../../src/agent/context/canonical.ts';
import { recordedFiles, replayCli, shopFile } from '../replay/setup.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

const atOnce = 8;

describe('the cases of recorded conversations', () => {
  let database: TestDatabase;
  let lanefold: Lanefold;
  beforeAll(async () => {
    database = await createDatabase();
    lanefold = await createLanefold({ databaseUrl: database.url, redisUrl: null });
  });
  afterAll(async () => {
    await lanefold?.close();
    await database?.drop();
  });

  /** The hash of what a run on the thread of an item is sent. */
  async function hashOf({ threadId, seq, contextRef, id }: EvalCase): Promise<string> {
    const fork = await lanefold.threads.fork(threadId, { id: `fork-of-${id}`, atSeq: seq, contextRef });
    return contextHash((await lanefold.contexts.project(fork.id)).map((row) => canonicalMessage(row)));
  }

  test.each([shopFile, ...recordedFiles()].map((file) => [path.basename(file), file]))(
    'of %s ask exactly what was asked, for every call',
    async (name, file) => {
      expect((await replayCli(database, file)).code).toBe(0);
      const { rows: calls } = await database.pool.query<{ thread: string; call: string }>(
        `select thread_id as thread, refs ->> 'llm_call_id' as call from lanefold.thread_entry
         where starts_with(thread_id, $1) and role = 'assistant' and refs ? 'llm_call_id'`,
        [`${path.basename(name, '.json')}:`],
      );
      expect(calls.length).toBeGreaterThan(5);
      const differing: string[] = [];
      const keepAll = async () => {
        for (let next = calls.pop(); next; next = calls.pop()) {
          const { thread: threadId, call: llmCallId } = next;
          const kept = await lanefold.cases.keep({ threadId, llmCallId, dataset: 'recorded' });
          const original = await lanefold.contexts.call(threadId, llmCallId);
          const hashes = new Set([await hashOf(kept), kept.contextHash, original.contextHash]);
          if (hashes.size > 1) differing.push(llmCallId);
        }
      };
      await Promise.all(Array.from({ length: atOnce }, keepAll));
      expect(differing).toEqual([]);
    },
  );
});
