import { HttpAgent } from '@ag-ui/client';
import type { Message } from '@ag-ui/core';
import { ProxiedCopilotRuntimeAgent } from '@copilotkit/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AgUiMessage } from '../../src/runs/formats/ag-ui/event.ts';
import { cases } from '../support/cases.ts';
import { snapshots, snapshotsAfter } from '../../src/runs/formats/ag-ui/nodes.ts';

/** Messages whose ids are their places in the conversation: `r` is reasoning. */
const toMessage = (id: string): AgUiMessage =>
  id.startsWith('r') ? { id, role: 'reasoning', content: id } : { id, role: 'user', content: id };
const ids = fc.uniqueArray(fc.tuple(fc.constantFrom('u', 'u', 'r'), fc.nat({ max: 12 })), {
  selector: ([, n]) => n,
  maxLength: 9,
});
const conversation = ids.map((list) => list.map(([kind, n]) => `${kind}${n}`));

const url = 'https://shop.example/ag-ui';
describe.each([
  ['@ag-ui/client', (fetch: typeof globalThis.fetch) => new HttpAgent({ url, fetch })],
  [
    '@copilotkit/core',
    (fetch: typeof globalThis.fetch) =>
      new ProxiedCopilotRuntimeAgent({ runtimeUrl: url, agentId: 'a', transport: 'rest', fetch }),
  ],
])('the messages of a client that gets snapshots (%s)', (_, agentOf) => {
  /** What a client has in the end. */
  async function merged(had: readonly string[], events: Iterable<object>): Promise<string[]> {
    const names = { threadId: 't', runId: 'r' };
    const all = [{ type: 'RUN_STARTED', ...names }, ...events, { type: 'RUN_FINISHED', ...names }];
    const body = all.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
    const headers = { 'content-type': 'text/event-stream' };
    const agent = agentOf(() => Promise.resolve(new Response(body, { headers })));
    agent.setMessages(had.map(toMessage) as never);
    await agent.runAgent();
    return (agent.messages as Message[]).map(({ id }) => id);
  }
  /** Of reasoning that the log never had, nothing can rid a client if the log has none at all. */
  const settled = (list: string[], logged: readonly string[]) =>
    logged.some((id) => id.startsWith('r')) ? list : list.filter((id) => !id.startsWith('r'));

  test('are those of the log in its order, whatever it had before', async () => {
    await fc.assert(
      fc.asyncProperty(conversation, conversation, async (logged, had) => {
        const events = [...snapshots(logged.map(toMessage), had.map(toMessage))];
        expect(settled(await merged(had, events), logged)).toEqual(logged);
      }),
      { numRuns: cases(20) },
    );
  });

  test('are those of the log in its order, whatever it had behind the first ones', async () => {
    await fc.assert(
      fc.asyncProperty(conversation, fc.nat(), conversation, async (logged, cut, more) => {
        const first = logged.slice(0, cut % (logged.length + 1));
        const had = [...first, ...more.filter((id) => !first.includes(id))];
        const events = [...snapshotsAfter(first.map(toMessage), logged.map(toMessage))];
        expect(settled(await merged(had, events), logged)).toEqual(logged);
      }),
      { numRuns: cases(20) },
    );
  });

  test('are sent once if the client has their beginning', () => {
    fc.assert(
      fc.property(conversation, fc.nat(), (logged, cut) => {
        const had = logged.slice(0, cut % (logged.length + 1));
        expect([...snapshots(logged.map(toMessage), had.map(toMessage))]).toHaveLength(1);
      }),
      { numRuns: cases(20) },
    );
  });
});
