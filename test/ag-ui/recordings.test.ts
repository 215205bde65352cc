// @module-tag long
import type { RunAgentInput } from '@ag-ui/core';
import { readFileSync } from 'node:fs';
import { createLanefold, type Lanefold } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FollowedRun } from '../../src/doors/ag-ui/runs/follow.ts';
import { sseResponse } from '../../src/base/common/sse-response.ts';
import { parseRecording } from '../../src/ops/replay/recording.ts';
import { replay } from '../../src/ops/replay/replay.ts';
import { recordedFiles, shopFile } from '../replay/setup.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { clientOf, handlerFor, noWarnings, type Client } from './client.ts';

const files = recordedFiles().length > 0 ? recordedFiles() : [shopFile];

/** A change is checked with one of them. */
const tagged = files.map((file, i) => ({ file, options: { tags: i === 0 ? 'slow' : 'long' } as const }));

for (const { file, options } of tagged)
  describe(`the runs of ${file}`, options, () => {
    let database: TestDatabase;
    let lanefold: Lanefold;
    beforeAll(async () => {
      database = await createDatabase();
      const recording = parseRecording(file, readFileSync(file, 'utf8'));
      const report = await replay(recording, { databaseUrl: database.url, redisUrl: null });
      expect(report.mismatches).toBe(0);
      lanefold = await createLanefold({ databaseUrl: database.url, redisUrl: null, agents: [] });
    });
    afterAll(async () => {
      await lanefold?.close();
      await database?.drop();
    });

    test('are sequences that the protocol allows, and leave the messages of the log', async () => {
      const assertQuiet = noWarnings();
      const handler = handlerFor(lanefold, { agent: 'none' });
      const { data: threads } = await lanefold.threads.list({ limit: 1_000 });
      let events = 0;
      for (const { id: threadId } of threads) {
        const reader = clientOf({
          url: 'https://shop.example/ag-ui',
          threadId,
          fetch: (to, init) => handler(new Request(to, init)),
        });
        await reader.agent.runAgent();
        const told = await followed(threadId, reader);
        expect(told.said(), threadId).toEqual(reader.said());
        events += told.events.length;
      }
      console.log(`${threads.length} threads, ${events} events`);
      assertQuiet();
    });

    /** The response to the question of a run, as if it had only begun. */
    async function* replayed(names: { threadId: string; runId: string }): AsyncGenerator<string> {
      yield JSON.stringify({ type: 'RUN_STARTED', ...names });
      const before = { state: {}, rev: Number.MAX_SAFE_INTEGER, waitingRuns: [] };
      const run = new FollowedRun(lanefold, { threadId: names.threadId, id: names.runId }, names, before, undefined);
      const events = run.events(-1, undefined, new AbortController().signal);
      for await (const event of events) yield JSON.stringify(event);
    }

    /** A client that has asked every question of a thread and read every answer. */
    async function followed(threadId: string, reader: Client): Promise<Client> {
      const { data: runs } = await lanefold.runs.list({ threadId, limit: 1_000 });
      const { questions } = await lanefold.threads.agUiSnapshot(threadId);
      const client = clientOf({
        url: 'https://shop.example/ag-ui',
        threadId,
        fetch: (_, { body }) => {
          const { runId } = JSON.parse(body as string) as RunAgentInput;
          return Promise.resolve(sseResponse(replayed({ threadId, runId }), { abort: () => {} }));
        },
      });
      const { agent } = client;
      for (const { message, runId } of questions) {
        agent.addMessage(message as never);
        if (runId === null) continue;
        expect(runs.some(({ id }) => id === runId)).toBe(true);
        await agent.runAgent({ runId });
      }
      expect(reader.events[0]).toMatchObject({ type: 'RUN_STARTED' });
      return client;
    }
  });
