// @module-tag slow
import { describe, expect, test } from 'vitest';
import type { Json, Message } from '../../../src/agent/context/message.ts';
import { createCounting } from '../../../src/agent/models/counting.ts';
import type { PolicyOption } from '../../../src/agent/policy/types.ts';
import { readPolicy } from '../../../src/agent/policy/read-policy.ts';
import { dialects } from '../../../src/agent/models/acceptable-prompt.ts';
import { RunContext } from '../../../src/worker/run/context.ts';
import { fitContext } from '../../../src/worker/run/fit-context.ts';
import { recordedMessages } from '../../support/recorded-messages.ts';

const recorded = recordedMessages();

interface Request {
  /** What the provider gets, without the bracket that closes the list. */
  bytes: string;
  dropped: string | undefined;
}

/** The requests of a conversation: of one process that continues, or each of one that has to read the log first. */
async function requestsOf(messages: Message[], option: PolicyOption | undefined, afresh: boolean): Promise<Request[]> {
  const counting = createCounting({ contextWindows: { 'some:model': 4_000 } });
  const policy = option === undefined ? undefined : readPolicy(option);
  const log: (Message & { seq: number; refs?: Json })[] = [];
  const requests: Request[] = [];
  let context = new RunContext([]);
  for (const [seq, message] of messages.entries()) {
    const row: (typeof log)[number] = { ...message, seq };
    if (message.role === 'assistant') {
      if (afresh) context = new RunContext(log);
      const request = { model: 'some:model', policy, tools: [], maxOutputTokens: undefined };
      const fitted = await fitContext(counting, context, request);
      const { sent = context, refs = {} } = fitted ?? {};
      row.refs = refs;
      const { dropped } = refs;
      requests.push({
        bytes: JSON.stringify(sent.requestIn(dialects.openai).prompt).slice(0, -1),
        dropped: dropped === undefined ? undefined : JSON.stringify(dropped),
      });
    }
    log.push(row);
    context.push(row);
  }
  return requests;
}

test('there are recordings', () => expect(recorded.length).toBeGreaterThan(0));

describe.each([
  ['no policy', undefined],
  ['window', 'window'],
  ['short_context', 'short_context'],
  ['long_context', 'long_context'],
  ['tool_focused', 'tool_focused'],
  ['a small budget', { maxInputTokens: 3_000, keepLastTurns: 1 }],
  ['few messages', { maxMessages: 8, keepLastTurns: 1 }],
] as [string, PolicyOption | undefined][])('under %s', (_, policy) => {
  test('each request begins with the bytes of the one before, unless a cut has moved; whichever process makes it', async () => {
    let [extended, moved] = [0, 0];
    for (const messages of recorded) {
      const requests = await requestsOf(messages, policy, false);
      expect(await requestsOf(messages, policy, true)).toEqual(requests);
      for (const [i, request] of requests.entries()) {
        const before = requests[i - 1];
        if (!before) continue;
        if (before.dropped !== request.dropped) moved += 1;
        else {
          expect(request.bytes.startsWith(before.bytes)).toBe(true);
          extended += 1;
        }
      }
    }
    expect(extended).toBeGreaterThan(moved);
  });
});
