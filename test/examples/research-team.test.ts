// @module-tag slow
import { expect, test } from 'vitest';
import { ownDatabase, startProgram } from './program.ts';

const env = ownDatabase();

test('an editor asks its team, three deep, and the tree shows what each of them spent', async () => {
  const { code, output, errors } = await startProgram('examples/research-team/main.ts', {
    env,
  }).ended;
  expect([code, errors]).toEqual([0, '']);
  const [answer, tree] = output.trimEnd().split('\n\n');
  expect(answer).toMatch(/^completed: Berlin is nearly 800 years old\./);
  const rows = tree!.split('\n').map((line) => /^( *)(\S+) +(\S*) +(\d+) tokens {2}\$(\d\.\d+)$/.exec(line)!.slice(1));
  const runs = rows.map(([indent, agent, state]) => [indent!.length / 2, agent, state]);
  expect(runs[0]).toEqual([0, 'editor', 'completed']);
  expect(runs.at(-1)).toEqual([0, 'all', '']);
  // those of one round start at once, in any order
  const below = runs.slice(1, -1);
  expect(below).toHaveLength(4);
  expect(below).toEqual(
    expect.arrayContaining([
      [1, 'historian', 'completed'],
      [1, 'economist', 'completed'],
      [1, 'archivist', 'completed'],
    ]),
  );
  const checker = below.findIndex(([, agent]) => agent === 'fact-checker');
  expect(below.slice(checker - 1, checker + 1)).toEqual([
    [1, 'economist', 'completed'],
    [2, 'fact-checker', 'completed'],
  ]);
  const [total, ...spent] = rows.map(([, , , tokens]) => Number(tokens)).toReversed();
  expect(spent.every((tokens) => tokens > 0)).toBe(true);
  expect(total).toBe(spent.reduce((sum, tokens) => sum + tokens, 0));
});
