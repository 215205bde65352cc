// @module-tag slow
import { defineAgent, defineTool, withEffects } from 'lanefold';
import type { AgUiHandler } from 'lanefold/ag-ui';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { cases } from '../support/cases.ts';
import { fakeModel } from '../support/fake-model.ts';
import { startTwo, type TwoProcesses } from '../support/two-processes.ts';
import { clientOf, handlerFor, noWarnings, user, type Client } from './client.ts';

/** The model thinks, calls tools twice, and answers; `dig` needs approval. */
const model = () =>
  fakeModel(({ prompt }) => {
    const asked = JSON.stringify(prompt.find(({ role }) => role === 'user')!.content);
    const rounds = prompt.filter(({ role }) => role === 'tool').length;
    const put = (n: number) => ({ id: 'c', name: 'put', args: { key: `k${n}` } });
    if (rounds === 0) return { text: 'Ich prüfe…', thinking: 'Zuerst 🔎.', calls: [put(0), put(1)] };
    if (rounds === 1) return { calls: asked.includes('dig') ? [put(2), { id: 'c', name: 'dig', args: {} }] : [put(3)] };
    return { text: 'Fertig – 3 × erledigt ✓.' };
  });

describe('a response that breaks off', () => {
  let two: TwoProcesses;
  let handler: AgUiHandler;
  let assertQuiet: () => void;
  beforeEach(() => void (assertQuiet = noWarnings()));
  afterEach(() => assertQuiet());
  const put = defineTool({
    name: 'put',
    input: z.object({ key: z.string() }),
    execute: ({ key }) => withEffects(key, [{ op: 'set_path', path: [key, 'ä'], value: key }]),
  });
  const dig = defineTool({ name: 'dig', input: z.object({}), needsApproval: true, execute: () => 'dug' });
  beforeAll(async () => {
    const agents = [defineAgent({ name: 'busy', model: 'fake:m', tools: [put, dig] })];
    two = await startTwo({ agents, models: { fake: model } });
    handler = handlerFor(two.front, { agent: 'busy' });
  });
  afterAll(() => two?.close());

  const url = 'https://shop.example/ag-ui';
  type Fetch = (to: string, init: RequestInit) => Promise<Response>;
  const whole: Fetch = (to, init) => handler(new Request(to, init));
  const join = (threadId: string, fetch: Fetch): Client => clientOf({ url, threadId, fetch });
  /** What a client has, under names that do not depend on the run. */
  const kept = ({ said, agent }: Client) =>
    JSON.parse(
      JSON.stringify({ messages: said(), state: agent.state as unknown, open: agent.pendingInterrupts }).replaceAll(
        /run_[a-z0-9]+|"expiresAt":"[^"]+",?/g,
        '',
      ),
    ) as object;

  /** Asks a question with this transport, and again with a whole one if the response broke off. */
  async function askTwice(threadId: string, question: string, broken: Fetch): Promise<Client> {
    let cut = true;
    const client = join(threadId, (to, init) => (cut ? broken(to, init) : whole(to, init)));
    client.agent.addMessage(user('m1', question));
    // within an event the client cannot read what it got; between two it takes the rest for lost
    await client.agent.runAgent({ runId: 'r' }).catch(() => {});
    cut = false;
    const { pendingInterrupts } = client.agent;
    client.agent.pendingInterrupts = [];
    await client.agent.runAgent({ runId: 'r' });
    if (pendingInterrupts.length > 0) expect(client.agent.pendingInterrupts).toEqual(pendingInterrupts);
    return client;
  }

  const blocksOf = (text: string) => text.split(/(?<=\n\n)/);
  async function responseOf(threadId: string, question: string): Promise<{ client: Client; bytes: Uint8Array }> {
    let bytes: Uint8Array = new Uint8Array();
    const client = join(threadId, async (to, init) => {
      bytes = new Uint8Array(await (await whole(to, init)).arrayBuffer());
      return new Response(bytes.slice(), { headers: { 'content-type': 'text/event-stream' } });
    });
    client.agent.addMessage(user('m1', question));
    await client.agent.runAgent({ runId: 'r' });
    return { client, bytes };
  }

  test.each(['go', 'dig'])(
    'at any event is made up for by the next one, while the run continues (%s)',
    async (question) => {
      const { client: reference, bytes } = await responseOf(`whole-${question}`, question);
      const events = blocksOf(new TextDecoder().decode(bytes)).length;
      expect(events).toBeGreaterThan(25);
      const results: object[] = [];
      for (let after = 0; after < events; after++) {
        const threadId = `cut-${question}-${after}`;
        const client = await askTwice(threadId, question, async (to, init) => {
          const response = await whole(to, init);
          return new Response(response.body!.pipeThrough(firstBlocks(after)), response);
        });
        results.push(kept(client));
      }
      expect(results).toEqual(results.map(() => kept(reference)));
    },
  );

  test.each(['go', 'dig'])('at any byte loses and repeats nothing (%s)', async (question) => {
    const threadId = `bytes-${question}`;
    const { client: reference, bytes } = await responseOf(threadId, question);
    const expected = kept(reference);
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: bytes.length - 1 }), async (length) => {
        const head = new Response(bytes.slice(0, length), { headers: { 'content-type': 'text/event-stream' } });
        expect(kept(await askTwice(threadId, question, () => Promise.resolve(head)))).toEqual(expected);
      }),
      { numRuns: cases(50) },
    );
  });
});

/** Lets the first events through, then ends the response. */
function firstBlocks(most: number): TransformStream<Uint8Array, Uint8Array> {
  let seen = 0;
  return new TransformStream({
    start: (controller) => void (most === 0 && controller.terminate()),
    transform(chunk, controller) {
      controller.enqueue(chunk);
      seen += 1;
      if (seen === most) controller.terminate();
    },
  });
}
