import { expect, test } from 'vitest';
import { diffArrays, diffWordsWithSpace } from '../../page/parts/compare.ts';
import { diffMessages } from '../../page/parts/diff.ts';
import { growth, tooMuch } from '../linear/growth.ts';

const words = (text: string, by: string) => text.split(' ').map((word, n) => `${by}${n}${word}`);

test('texts and contexts that have nothing in common are compared in linear time', { tags: 'slow' }, async () => {
  const compareWords = (text: string) => diffWordsWithSpace(words(text, 'a').join(' '), words(text, 'b').join(' '));
  expect(await growth(compareWords, { pump: 'x ' }, 100_000)).toBeLessThan(tooMuch);
  const compareLists = (text: string) => diffArrays(words(text, 'a'), words(text, 'b'));
  expect(await growth(compareLists, { pump: 'x ' }, 100_000)).toBeLessThan(tooMuch);
});

test('what differs too much is shown as removed and added, whole', () => {
  const [before, after] = ['a', 'b'].map((by) => words('x '.repeat(5_000), by));
  expect(diffWordsWithSpace(before!.join(' '), after!.join(' '))).toMatchObject([
    { value: before!.join(' '), removed: true, added: false },
    { value: after!.join(' '), removed: false, added: true },
  ]);
  const message = (content: string) => ({ role: 'user', content }) as never;
  const changes = diffMessages(diffArrays, before!.map(message), after!.map(message));
  expect(changes).toHaveLength(before!.length);
  expect(changes[0]).toEqual({ kind: 'changed', before: message(before![0]!), after: message(after![0]!) });
});

test('a few changes in a long text are found', () => {
  const long = 'The quick fox. '.repeat(20_000);
  expect(
    diffWordsWithSpace(`${long}Yes.`, `${long}No.`).filter(({ added, removed }) => added || removed),
  ).toMatchObject([
    { value: 'Yes', removed: true },
    { value: 'No', added: true },
  ]);
});
