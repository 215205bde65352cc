import { scoreAnswer, type ScorerInput } from 'lanefold/evals';
import { fromAutoevals, type AutoevalsScorer, type FromAutoevalsOptions } from 'lanefold/evals/autoevals';
import { expect, test } from 'vitest';
import { inputOf } from './items.ts';

const messages = [
  { role: 'user' as const, content: 'first' },
  { role: 'assistant' as const, content: 'yes?' },
  { role: 'user' as const, content: [{ type: 'text' as const, text: 'How much?' }] },
];
const scoreBy = async (
  scorer: AutoevalsScorer,
  options: FromAutoevalsOptions = {},
  fields: Partial<ScorerInput> = {},
) => {
  const input = inputOf({ answer: '20 €', messages, expected: { answer: '20 €' }, ...fields });
  return (await scoreAnswer([fromAutoevals(scorer, options)], input))[0]!;
};

/** Shaped like the package's own: `expected` is optional, and a rationale is in the metadata. */
const Closeness = (args: { output: string; expected?: string; input?: string }) => ({
  name: 'Closeness',
  score: args.output === args.expected ? 1 : 0.5,
  metadata: { rationale: `${args.input} ${args.output}`, more: 1 },
});

test('passes output, expected and input, and takes the score and its rationale', async () => {
  expect(await scoreBy(Closeness, { version: 'autoevals 0.0.132' })).toEqual({
    scorer: 'Closeness',
    version: 'autoevals 0.0.132',
    score: 1,
    reason: 'How much? 20 €',
    error: null,
  });
  expect(
    await scoreBy(async (args: Parameters<typeof Closeness>[0]) => Closeness(args), { name: 'close' }),
  ).toMatchObject({
    scorer: 'close',
    score: 1,
  });
});

test('applies to cases with an expected answer, or to those with arguments', async () => {
  const unexpected = { expected: { rubric: 'short' } };
  expect(await scoreBy(Closeness, {}, unexpected)).toMatchObject({ score: null, error: null });
  const args = ({ expected }: ScorerInput) => ({ expected: '?', input: expected.rubric });
  expect(await scoreBy(Closeness, { args }, unexpected)).toMatchObject({ score: 0.5, reason: 'short 20 €' });
});

test('a null score does not apply; an error of the scorer is one', async () => {
  const Silent = () => ({ name: 'Silent', score: null });
  expect(await scoreBy(Silent)).toMatchObject({ score: null, error: null });
  const Failing = () => ({ name: 'Failing', score: 0, error: new Error('no key') });
  expect(await scoreBy(Failing)).toMatchObject({ score: null, error: 'The scorer threw: no key' });
});

test('needs a function with a name', () => {
  const invalid = expect.objectContaining({ code: 'invalid_scorer' });
  expect(() => fromAutoevals({} as never)).toThrow(invalid);
  expect(() => fromAutoevals((() => () => ({ name: 'x', score: 1 }))())).toThrow(invalid);
});
