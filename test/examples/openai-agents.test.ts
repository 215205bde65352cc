// @module-tag long
import { expect, test } from 'vitest';
import { ownDatabase, startProgram } from './program.ts';

const env = ownDatabase();

test('an agent of the SDK has its session in the log, and a question is taken back', async () => {
  const { code, output, errors } = await startProgram('examples/openai-agents/main.ts', {
    env,
  }).ended;
  expect([code, errors]).toEqual([0, '']);
  const [answers, lane, log] = output.trim().split('\n\n');
  expect(answers!.split('\n')).toEqual([
    'When does my order A-17 arrive? Order A-17 arrives on Tuesday.',
    'How many items does it have? It has two items.',
    'Which items does it have? It has two items: a lamp and a shade.',
  ]);
  const rows = lane!.split('\n').slice(1);
  expect(rows.map((row) => row.trim().split(':')[0])).toEqual([
    'user',
    'assistant',
    'tool',
    'assistant',
    'user',
    'assistant',
  ]);
  expect(lane).not.toContain('How many');
  expect(log).toMatch(/^The log has \d+ entries; nothing was deleted\.$/);
});
