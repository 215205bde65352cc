// @module-tag long
import { expect, test } from 'vitest';
import { costOf, textOf, type Worst } from './growth.ts';
import { literalsOf, modules, worstOf, type Literal } from './literals.ts';

/** Patterns that may take longer: over text that is ours, or never long. */
const spared: Record<string, string> = {
  'src/runs/queue/bull-calls.ts': 'statements that BullMQ has in its package',
  'src/database/store/schema/migrate.ts': 'the SQL of the package',
};

const reader = ({ source, flags }: Omit<Literal, 'file'>): ((text: string) => unknown) => {
  const pattern = new RegExp(source, flags);
  return (text) => {
    pattern.lastIndex = 0;
    return pattern.global ? text.replace(pattern, '') : pattern.exec(text);
  };
};

/** Ten thousand characters take a tenth of a millisecond in linear time, and a hundred in quadratic time. */
const suspectMs = 25;

/** Step by step, so that exponential and cubic time show while they are short; then in strides. */
const lengths = [24, 36, 54, 81, 122, 182, 273, 820, 2_460, 10_500];

async function isSlow(read: (text: string) => unknown, worst: Worst): Promise<boolean> {
  for (const length of lengths) if ((await costOf(read, textOf(worst, length))) > suspectMs) return true;
  return false;
}

/** A text made of its parts that a pattern takes more than linear time for. */
async function slowOn(literal: Omit<Literal, 'file'>): Promise<Worst | undefined> {
  const read = reader(literal);
  for (const worst of worstOf(literal)) if (await isSlow(read, worst)) return worst;
  return undefined;
}

test.each([
  ['a tag', '<(?=\\s*/?\\s*question\\b)', 'giu'],
  ['a placeholder', '\\{\\{\\s*([^{}]*?)\\s*\\}\\}', 'g'],
  ['a mark', '^[-*•\\s]*(\\p{L}+)\\**[:：]\\**(.*)$', 'u'],
  ['blanks at the end', '\\s+$', ''],
  ['a link', '<link\\b[^>]*\\bhref="https?:\\/\\/[^>]*>', 'gi'],
  ['arithmetic', '[\\d(][\\d\\s.()]*(?:[-+*/×x^%][\\d\\s.()]+)+', 'i'],
  ['repeats of repeats', '^(\\w+-?)+$', ''],
])('a pattern for %s that takes more than linear time is found', async (_, source, flags) => {
  expect(await slowOn({ source, flags })).toBeDefined();
});

test('every pattern of the product takes linear time for texts made of its parts', async () => {
  const literals = modules.filter((file) => !(file in spared)).flatMap(literalsOf);
  expect(literals.length).toBeGreaterThan(300);
  for (const literal of literals)
    expect(await slowOn(literal), `${literal.file}: /${literal.source}/${literal.flags}`).toBeUndefined();
});
