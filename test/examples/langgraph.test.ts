// @module-tag long
import { expect, test } from 'vitest';
import { ownDatabase, startProgram } from './program.ts';

const env = ownDatabase();

test('a graph asks a person, continues elsewhere, and is sent the other way', async () => {
  const { code, output, errors } = await startProgram('examples/langgraph/main.ts', {
    env,
  }).ended;
  expect([code, errors]).toEqual([0, '']);
  const sections = output.trim().split('\n\n');
  expect(sections[0]).toBe('The graph waits before tools, in no process.');
  const rows = sections.slice(1, 4).map((section) => section.split('\n').slice(1));
  const asked = '  user: "Please refund my order."';
  const way = (answer: string) => [
    asked,
    '  assistant: "I will refund it."',
    `  tool: "refund ${answer}"`,
    `  assistant: "Done: refund ${answer}"`,
  ];
  expect(rows).toEqual([[asked], way('approved'), way('denied')]);
  expect(sections[4]).toMatch(/^The log of thread refund-\d+ has \d+ entries; nothing was overwritten\.$/);
});
