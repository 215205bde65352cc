import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { LanefoldError } from 'lanefold';
import { parseRecording } from '../../src/ops/replay/recording.ts';
import { cli } from '../cli/cli.ts';

const user = { role: 'user', content: 'hello' };
const call = (id: string, more = {}) => ({
  id,
  type: 'function',
  function: { name: 'look', arguments: '{}', ...more },
});
const asks = (...calls: unknown[]) => ({ role: 'assistant', content: null, tool_calls: calls });
const result = (id: string, content: unknown = 'seen') => ({ role: 'tool', tool_call_id: id, name: 'look', content });

const conversations: [what: string, traj: unknown, message: number | undefined, why: RegExp][] = [
  ['no list', 'hello', undefined, /no array "traj"/],
  ['no messages', [], undefined, /no messages/],
  ['no message', [user, null], 1, /role is undefined/],
  ['an unknown role', [user, { role: 'developer', content: '' }], 1, /role is "developer"/],
  ['a late system prompt', [user, { role: 'system', content: 'x' }], 1, /only be the first message/],
  ['content that is not text', [{ role: 'user', content: { text: 'x' } }], 0, /content is not a string/],
  ['a blank user message', [user, { role: 'user', content: ' \n' }], 1, /user message is blank/],
  ['text that cannot be stored', [{ role: 'user', content: 'a\u0000' }], 0, /NUL/],
  ['an answer without a question', [{ role: 'assistant', content: 'hello' }], 0, /no user message/],
  [
    'two answers',
    [user, { role: 'assistant', content: 'a' }, { role: 'assistant', content: 'b' }],
    2,
    /no user message/,
  ],
  ['a result without a call', [user, result('c')], 1, /answers no open tool call/],
  [
    'a call that is not answered',
    [user, asks(call('c')), user],
    2,
    /no tool message answers the preceding tool call c/,
  ],
  [
    'a call that is never answered',
    [user, asks(call('c'), call('d')), result('c')],
    2,
    /no tool message answers the tool call d/,
  ],
  [
    'results in another order',
    [user, asks(call('c'), call('d')), result('d'), result('c')],
    2,
    /the next open one is c/,
  ],
  ['an image without a url', [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }], 0, /has no url/],
  ['a message of no parts', [{ role: 'user', content: [] }], 0, /is blank/],
  ['a result that is not text', [user, asks(call('c')), result('c', { a: 1 })], 2, /content is not a string/],
  ['a call without an id', [user, asks(call(''))], 1, /tool call 0 has no id/],
  ['a call without a name', [user, asks(call('c', { name: 'a b' }))], 1, /tool call 0 has no valid function name/],
  ['arguments that are not text', [user, asks(call('c', { arguments: {} }))], 1, /arguments of its tool call 0/],
];

const faultOf = (file: string, text: string): LanefoldError => {
  try {
    parseRecording(file, text);
  } catch (error) {
    return error as LanefoldError;
  }
  throw new Error('the recording was accepted');
};

describe('a recording is rejected', () => {
  test.each(conversations)('for %s', (_, traj, message, why) => {
    const error = faultOf('trips.json', JSON.stringify([{ traj: [user] }, { traj }]));
    expect(error).toMatchObject({ code: 'invalid_input', details: { file: 'trips.json', conversation: 1 } });
    expect(error.details?.['message']).toBe(message);
    expect(error.message).toMatch(why);
    const at = `trips.json, conversation 1${message === undefined ? '' : `, message ${message}`}: `;
    expect(error.message.startsWith(at)).toBe(true);
  });

  test('for invalid JSON, with line and column', () => {
    expect(faultOf('a.json', '[\n  {"traj": []},\n  {"traj": ]}\n]').details).toEqual({
      file: 'a.json',
      line: 3,
      column: 12,
    });
    expect(faultOf('a.json', '[\n  {"traj": [').details).toEqual({ file: 'a.json', line: 2, column: 13 });
    expect(faultOf('a.json', '').details).toEqual({ file: 'a.json', line: 1, column: 1 });
  });

  test('for anything but a non-empty array of conversations', () => {
    expect(faultOf('a.json', '{"traj": []}').message).toMatch(/not a JSON array/);
    expect(faultOf('a.json', '[]').message).toMatch(/no conversations/);
  });

  test('for a file name that cannot be part of a thread id', () => {
    expect(faultOf('/data/my trips.json', '[]').message).toMatch(/"my trips"/);
  });

  test('on the command line with exit code 2, whatever the database', async () => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'lanefold-replay-')), 'trips.json');
    writeFileSync(file, JSON.stringify([{ traj: [user, result('c')] }]));
    const { code, stdout, stderr } = await cli(['replay', file]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(
      /^lanefold: .*trips\.json, conversation 0, message 1: this tool message answers no open tool call.* \[invalid_input\]\nhint: /,
    );
  });
});
