// @module-tag long
import fc from 'fast-check';
import { createClient, type Client, type StreamItem } from 'lanefold/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApi, type Api } from '../api/helpers.ts';
import { recordedFiles, replayCli, shopFile } from '../replay/setup.ts';
import { cases } from '../support/cases.ts';
import { cuttingProxy, type CuttingProxy } from './cutting-proxy.ts';

const wanted = cases(100);

interface Recorded {
  threadId: string;
  /** Of the stream with entries. */
  bytes: number;
  events: object[];
  /** The text of each model call's answer. */
  answers: Record<string, string>;
}

let api: Api;
let direct: Client;
let proxy: CuttingProxy;
let lengths: () => number | undefined = () => undefined;
const recorded: Recorded[] = [];

beforeAll(async () => {
  api = await startApi({ worker: false });
  const [file = shopFile] = recordedFiles();
  const { code } = await replayCli(api.lanefold.database, file, '--concurrency', '4');
  expect(code).toBe(0);
  direct = createClient({ url: api.url });
  proxy = await cuttingProxy(api.url, () => lengths());
  const { data } = await direct.threads.list({ limit: 50 });
  for (const { id } of data) recorded.push(await read(id));
});
afterAll(async () => {
  proxy?.close();
  await api?.close();
});

async function read(threadId: string): Promise<Recorded> {
  const { data: runs } = await direct.runs.list({ threadId });
  const answers: Recorded['answers'] = {};
  const { data: entries } = await direct.threads.entries(threadId, { limit: 1_000 });
  for (const { role, payload, refs } of entries)
    if (role === 'assistant') answers[refs['llm_call_id'] as string] = payload['content'] as string;
  const { data: events } = await direct.threads.events(threadId, { limit: 1_000 });
  expect(runs.length).toBeGreaterThan(0);
  return { threadId, events, answers, bytes: JSON.stringify([events, entries]).length };
}

/** Reads a thread to its last event. */
async function follow(client: Client, { threadId, events }: Recorded): Promise<StreamItem[]> {
  const items: StreamItem[] = [];
  for await (const item of client.threads.stream(threadId, { entries: true })) {
    items.push(item);
    if (item.type === 'event' && items.filter(({ type }) => type === 'event').length === events.length) break;
  }
  return items;
}

/** The text of each answer; fails where a delta does not begin at the end of the one before. */
function answersIn(items: StreamItem[]): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const item of items) {
    if (item.type === 'llm_snapshot') {
      expect(texts, 'a second snapshot of a call').not.toHaveProperty(item.llmCallId);
      texts[item.llmCallId] = item.text;
    } else if (item.type === 'llm_delta' && 'text' in item) {
      expect(item.offset).toBe(texts[item.llmCallId]?.length ?? 0);
      texts[item.llmCallId] = (texts[item.llmCallId] ?? '') + item.text;
    }
  }
  return texts;
}

test(`${wanted} cuts at random bytes lose nothing and repeat nothing`, async () => {
  // each connection has to bring the largest message some day
  const property = fc.asyncProperty(
    fc.nat(recorded.length - 1),
    fc.infiniteStream(fc.noBias(fc.integer({ min: 0, max: 999_999 }))),
    async (which, chances) => {
      const thread = recorded[which]!;
      lengths = () => 1 + Math.floor((chances.next().value! / 1e6) ** 4 * (thread.bytes + 2_000));
      const client = createClient({ url: proxy.url, maxRetries: 10_000, retryDelayMs: 0 });
      const items = await follow(client, thread);
      const events = items.flatMap((item) => (item.type === 'event' ? [item.event] : []));
      expect(events).toEqual(thread.events);
      const texts = Object.entries(thread.answers).filter(([, text]) => text !== '');
      expect(answersIn(items)).toMatchObject(Object.fromEntries(texts));
    },
  );
  let streams = 0;
  for (; proxy.cuts() < wanted; streams++) await fc.assert(property, { numRuns: 1 });
  console.log(`${proxy.cuts()} cuts in ${streams} streams of ${recorded.length} recorded threads`);
}, 600_000);
