import { createAnthropic } from '@ai-sdk/anthropic';
import { defineAgent, defineTool } from 'lanefold';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { entriesOf } from '../../support/log.ts';
import { startModelServer, type ModelServer } from '../../support/openai-server.ts';
import { startRuntime } from '../helpers.ts';

const look = defineTool({ name: 'look', input: z.object({}), execute: () => 'late' });

let server: ModelServer;
beforeAll(async () => void (server = await startModelServer()));
afterAll(() => server?.close());

/** The cache markers in the requests of a run with one tool call, and the hashes in its log. */
async function run(options: { promptCaching?: boolean }) {
  const claude = createAnthropic({ apiKey: 'k', baseURL: server.url })('m');
  const agent = defineAgent({ name: 'a', model: 'claude', instructions: 'Help.', tools: [look] });
  const lanefold = await startRuntime([agent], { models: { claude }, ...options });
  try {
    const from = server.requests.length;
    server.reply({ toolCalls: [{ id: 'c1', name: 'look', arguments: '{}' }] }, { text: 'ok' });
    const { run: ended, threadId } = await lanefold.run({ agent: 'a', input: 'Where is it?' });
    expect(ended).toMatchObject({ status: 'completed', result: 'ok' });
    const answers = (await entriesOf(lanefold, threadId)).filter((entry) => entry.role === 'assistant');
    return {
      markers: server.requests.slice(from).map(({ body }) => JSON.stringify(body).split('"cache_control"').length - 1),
      hashes: answers.map(({ refs }) => refs['context_hash']),
    };
  } finally {
    await lanefold.close();
  }
}

test('requests carry cache markers unless caching is off, and the log is the same', async () => {
  const on = await run({});
  const off = await run({ promptCaching: false });
  // after the tools, the prompt and the end; in the second request also where the first one ended
  expect(on.markers).toEqual([3, 4]);
  expect(off.markers).toEqual([0, 0]);
  expect(on.hashes).toEqual(off.hashes);
});
