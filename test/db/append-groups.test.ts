import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import type { NewEntry } from '../../src/runs/operations/threads/append.ts';
import type { JsonObject } from '../../src/agent/context/message.ts';
import { cases } from '../support/cases.ts';
import { expectClosed } from '../support/log.ts';
import { closedMessages } from './arbitraries.ts';
import { everythingOf, newThread, refused, useLog } from './helpers.ts';

const log = useLog();

const user: JsonObject = { role: 'user', content: 'u' };
const asks = (...ids: string[]): JsonObject => ({
  role: 'assistant',
  content: '',
  tool_calls: ids.map((id) => ({ id, name: `do-${id}`, arguments: {} })),
});
const tool = (id: string): JsonObject => ({ role: 'tool', content: `r${id}`, tool_call_id: id });
const toEntries = (messages: JsonObject[]) => messages.map((message) => ({ message }) as unknown as NewEntry);

const roles = async (threadId: string) =>
  (await log.contexts.project(threadId)).map((row) => (row.role === 'tool' ? `tool ${row.tool_call_id}` : row.role));

describe('open groups', () => {
  const open: [string, JsonObject[]][] = [
    ['calls that nobody answers', [asks('a')]],
    ['a missing result at the end', [asks('a', 'b'), tool('a')]],
    ['a missing result before the next user message', [asks('a', 'b'), tool('a'), user]],
    ['a missing result before the next calls', [asks('a'), asks('b'), tool('b')]],
    ['results in another order', [asks('a', 'b'), tool('b'), tool('a')]],
    ['a message between calls and results', [asks('a'), user, tool('a')]],
    ['a result too many', [asks('a'), tool('a'), tool('a')]],
    ['a result nobody asked for', [user, tool('a')]],
    ['a result of another call', [asks('a'), tool('b')]],
    ['a result that names no call', [asks('a'), { role: 'tool', content: 'r' }]],
    ['the same id twice, answered once', [asks('a', 'a'), tool('a')]],
  ];
  test.each(open)('%s are refused, in an append and in an anchor', async (_, messages) => {
    const threadId = await newThread(log);
    const before = await everythingOf(log.db, threadId);
    await refused(log.threads.append(threadId, toEntries(messages)), 'open_tool_group');
    await refused(log.contexts.replace(threadId, { entries: messages as never }), 'open_tool_group');
    expect(await everythingOf(log.db, threadId)).toEqual(before);
  });

  const malformed: [string, JsonObject[]][] = [
    ['a call without id', [{ role: 'assistant', content: '', tool_calls: [{ id: '', name: 'n', arguments: {} }] }]],
    ['a call without name', [{ role: 'assistant', content: '', tool_calls: [{ id: 'a', arguments: {} }] }, tool('a')]],
    [
      'a call whose id is a number',
      [{ role: 'assistant', content: '', tool_calls: [{ id: 5, name: 'n', arguments: {} }] }, tool('5')],
    ],
    ['a call that is no object', [{ role: 'assistant', content: '', tool_calls: ['a'] }, tool('a')]],
    ['a message without a role', [{ content: 'x' }]],
    ['a system message', [{ role: 'system', content: 'x' }]],
    ['content that is a number', [{ role: 'user', content: 5 }]],
    ['calls of a user', [{ role: 'user', content: 'x', tool_calls: [{ id: 'a', name: 'n', arguments: {} }] }]],
    ['a name that is a list', [{ role: 'user', content: 'x', name: ['n'] }]],
    ['a part no model takes', [{ role: 'user', content: [{ type: 'hologram' }] }]],
    ['a file without data or url', [{ role: 'user', content: [{ type: 'file', media_type: 'image/png' }] }]],
  ];
  test.each(malformed)('%s: refused as invalid, in an append and in an anchor', async (_, messages) => {
    const threadId = await newThread(log);
    const before = await everythingOf(log.db, threadId);
    await refused(log.threads.append(threadId, toEntries(messages)), 'invalid_input');
    await refused(log.contexts.replace(threadId, { entries: messages as never }), 'invalid_input');
    expect(await everythingOf(log.db, threadId)).toEqual(before);
  });

  test('an expectedRev that is no whole number is refused', async () => {
    const threadId = await newThread(log);
    for (const expectedRev of [0.5, -1, NaN, '0' as never]) {
      await refused(log.threads.append(threadId, toEntries([user]), { expectedRev }), 'invalid_input');
      await refused(log.contexts.replace(threadId, { entries: [] }, { expectedRev }), 'invalid_input');
      await refused(log.contexts.replace(threadId, { entries: [] }, { baseSeq: expectedRev }), 'invalid_input');
    }
  });

  test('a group must be whole within one append', async () => {
    const threadId = await newThread(log);
    await refused(log.threads.append(threadId, toEntries([asks('a')])), 'open_tool_group');
    await refused(log.threads.append(threadId, toEntries([tool('a')])), 'open_tool_group');
  });

  test('a group is a lane’s own: entries of other lanes and kinds may stand inside', async () => {
    const threadId = await newThread(log);
    const [call, result] = toEntries([asks('a'), tool('a')]);
    const elsewhere: NewEntry = { contextRef: 'plan', message: { role: 'user', content: 'x' } };
    await log.threads.append(threadId, [call!, elsewhere, { kind: 'note', payload: {} }, result!]);
    expect(await roles(threadId)).toEqual(['assistant', 'tool a']);
    await refused(log.threads.append(threadId, [call!, { ...result!, contextRef: 'plan' }]), 'open_tool_group');
  });

  test('the same id in one group and in the next is answered by position', async () => {
    const threadId = await newThread(log);
    await log.threads.append(threadId, toEntries([asks('a', 'a'), tool('a'), tool('a'), asks('a'), tool('a')]));
    expect(await roles(threadId)).toEqual(['assistant', 'tool a', 'tool a', 'assistant', 'tool a']);
  });
});

describe('repair', () => {
  const repaired: [string, JsonObject[], string[]][] = [
    ['at the end', [asks('a', 'b'), tool('a')], ['assistant', 'tool a', 'tool b']],
    ['before the next message', [asks('a', 'b'), user], ['assistant', 'tool a', 'tool b', 'user']],
    ['before a later result', [asks('a', 'b', 'c'), tool('b')], ['assistant', 'tool a', 'tool b', 'tool c']],
    ['between two groups', [asks('a'), asks('b'), tool('b')], ['assistant', 'tool a', 'assistant', 'tool b']],
    ['not at all where nothing is missing', [user, asks('a'), tool('a')], ['user', 'assistant', 'tool a']],
  ];
  test.each(repaired)('adds results %s, in an append and in an anchor', async (_, messages, expected) => {
    const given = messages.filter((m) => m['role'] === 'tool').length;
    for (const how of ['append', 'replace']) {
      const threadId = await newThread(log);
      if (how === 'append') await log.threads.append(threadId, toEntries(messages), { repair: true });
      else await log.contexts.replace(threadId, { entries: messages as never }, { repair: true });
      expect(await roles(threadId)).toEqual(expected);
      const tools = (await log.contexts.project(threadId)).filter((row) => row.role === 'tool');
      const added = tools.filter((row) => (row.refs as JsonObject | null)?.['kind'] === 'repaired');
      expect(added).toHaveLength(tools.length - given);
      for (const row of added) {
        expect(JSON.parse(row.content as string)).toMatchObject({
          ok: false,
          error: { type: 'missing_result', retryable: false },
        });
        expect(row.name).toBe(`do-${row.tool_call_id}`);
      }
    }
  });

  test('does not invent calls for a result without one', async () => {
    const threadId = await newThread(log);
    await refused(log.threads.append(threadId, toEntries([user, tool('a')]), { repair: true }), 'open_tool_group');
    await refused(
      log.threads.append(threadId, toEntries([asks('a', 'b'), tool('b'), tool('a')]), { repair: true }),
      'open_tool_group',
    );
  });

  test('closes whatever is left of closed groups, and never touches what is closed', async () => {
    await fc.assert(
      fc.asyncProperty(closedMessages, fc.array(fc.nat(20), { maxLength: 4 }), async (closed, dropped) => {
        const left = closed.filter((message, i) => message['role'] !== 'tool' || !dropped.includes(i));
        const threadId = await newThread(log);
        await log.threads.append(threadId, toEntries(left), { repair: true });
        const context = await log.contexts.project(threadId);
        expectClosed(context);
        expect(context).toHaveLength(closed.length);
      }),
      { numRuns: cases(10) },
    );
  });
});
