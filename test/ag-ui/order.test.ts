// @module-tag slow
import { HttpAgent } from '@ag-ui/client';
import type { Message } from '@ag-ui/core';
import fc from 'fast-check';
import { clientTool, defineAgent, defineTool } from 'lanefold';
import type { AgUiHandler } from 'lanefold/ag-ui';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { cases } from '../support/cases.ts';
import { fakeModel } from '../support/fake-model.ts';
import { startTwo, type TwoProcesses } from '../support/two-processes.ts';
import { clientOf, handlerFor, noWarnings, user, type Client } from './client.ts';
import { idsOf, loggedIds, obedient } from './thread.ts';

const calls = fc.array(fc.constantFrom('where', 'look'), { minLength: 1, maxLength: 3 });
const question = fc
  .record({ rounds: fc.array(calls, { maxLength: 2 }), thinks: fc.boolean() })
  .map(({ rounds, thinks }) => [thinks ? 'think' : 'say', rounds.map((round) => round.join(' ')).join(', ')].join(' '));
/** How a client gives results: in which order, one request for all or for each, behind the call or at the end. */
const giving = fc.record({ backwards: fc.boolean(), singly: fc.boolean(), atCall: fc.boolean() });
const client = fc.nat({ max: 1 });
const action = fc.oneof(
  { weight: 4, arbitrary: fc.record({ what: fc.constant('ask' as const), client, question, giving }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('reconnect' as const), client }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('fresh' as const), client, question, giving }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constantFrom('forget' as const, 'compact' as const), client }) },
);

describe('what a client has', () => {
  let two: TwoProcesses;
  let handler: AgUiHandler;
  let assertQuiet: () => void;
  beforeEach(() => void (assertQuiet = noWarnings()));
  afterEach(() => assertQuiet());
  beforeAll(async () => {
    const where = clientTool({ name: 'where', input: z.object({ round: z.number() }) });
    const look = defineTool({ name: 'look', input: z.object({ round: z.number() }), execute: () => 'seen' });
    const agents = [defineAgent({ name: 'guide', model: 'fake:m', tools: [where, look] })];
    two = await startTwo({ agents, models: { fake: () => fakeModel(obedient) } });
    handler = handlerFor(two.front, { agent: 'guide' });
  });
  afterAll(() => two?.close());

  const join = (threadId: string): Client =>
    clientOf({ url: 'https://shop.example/ag-ui', threadId, fetch: (to, init) => handler(new Request(to, init)) });

  let named = 0;
  const newId = (kind: string) => `${kind}-${++named}`;

  /** Asks, and runs the client's tools until the run has ended. */
  async function ask({ agent }: Client, text: string, how: Giving, results: Map<string, string>): Promise<void> {
    agent.addMessage(user(newId('q'), text));
    await agent.runAgent();
    for (let pending = open(agent); pending.length > 0; pending = open(agent)) {
      const order = how.backwards ? pending.toReversed() : pending;
      for (const toolCallId of how.singly ? order.slice(0, 1) : order) {
        const result: Message = { id: newId('r'), role: 'tool', toolCallId, content: `at ${toolCallId}` };
        results.set(toolCallId, result.id);
        const parent = agent.messages.findIndex(({ id }) => toolCallId.startsWith(`${id}#`));
        agent.messages.splice(how.atCall ? parent + 1 : agent.messages.length, 0, result);
      }
      await agent.runAgent();
    }
  }

  /** The calls of `where` that have no result. */
  function open({ messages }: HttpAgent): string[] {
    const has = new Set(messages.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : [])));
    return messages.flatMap((message) =>
      message.role === 'assistant'
        ? (message.toolCalls ?? [])
            .filter((call) => call.function.name === 'where' && !has.has(call.id))
            .map(({ id }) => id)
        : [],
    );
  }

  test('is what the log has, in its order, whatever happened before', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 7 }), async (actions) => {
        const threadId = newId('thread');
        const clients = [join(threadId), join(threadId)];
        const results = new Map<string, string>();
        const expected = () => loggedIds(two.front, threadId, results);
        for (const step of actions) {
          if (step.what === 'fresh') clients[step.client] = join(threadId);
          const of = clients[step.client]!;
          if (step.what === 'ask' || step.what === 'fresh') {
            await ask(of, step.question, step.giving, results);
            // the results of a round may stand in the order in which they came
            expect(idsOf(of.said())).toEqual(await expected());
          } else if (step.what === 'reconnect') {
            await of.agent.runAgent();
            expect(idsOf(of.agent.messages)).toEqual(await expected().catch(() => []));
          } else if (step.what === 'forget') {
            of.agent.setMessages(of.agent.messages.slice(-2).toReversed());
          } else if (results.size > 0) {
            await two.front.contexts.replace(threadId, { entries: [] }, { reason: 'compaction' });
          }
        }
        for (const { agent } of [...clients, join(threadId)]) {
          await agent.runAgent();
          expect(idsOf(agent.messages)).toEqual(await expected().catch(() => []));
          const first = agent.messages;
          await agent.runAgent();
          expect(agent.messages).toEqual(first);
        }
      }),
      { numRuns: cases(3) },
    );
  });
});

interface Giving {
  backwards: boolean;
  singly: boolean;
  atCall: boolean;
}
