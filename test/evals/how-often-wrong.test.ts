// @module-tag long
import { compareVariants, type EvalItem } from 'lanefold/evals';
import { expect, test } from 'vitest';
import { repeatsOf } from './items.ts';

/** The same numbers in every run, so that the rates below are facts and not chances. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => ((state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) >>> 8) / 2 ** 24;
}

/** The chance that a case passes, for the baseline and the candidate. */
type Case = (next: () => number) => [number, number];

/** Failures are up to twice as likely as on average for hard cases, and rarer for easy ones; half of that is shared. */
const unlike =
  (failing: [number, number]): Case =>
  (next) => {
    const shared = next();
    return failing.map((rate) => 1 - rate * (shared + next())) as [number, number];
  };

/** Difficulty is normal on the logit scale, and so is the luck that each variant has with a case. Rates are of a medium case. */
const veryUnlike =
  (passing: [number, number]): Case =>
  (next) => {
    const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
    const difficulty = 1.5 * normal();
    const chance = (rate: number) => 1 / (1 + Math.exp(-Math.log(rate / (1 - rate)) + difficulty + normal()));
    return passing.map(chance) as [number, number];
  };

/** The shares of 200 experiments, each with 3 repeats, in which the candidate is found to be worse, and better. */
function foundIn(cases: number, kind: Case): { worse: number; better: number } {
  const next = numbersFrom(cases);
  // a pass scores around 0.9 and a failure around 0.2: the noise of a judge
  const scoresOf = (chance: number) => [1, 2, 3].map(() => (next() < chance ? 0.8 : 0.1) + 0.2 * next());
  const verdicts = Array.from({ length: 200 }, (_, experiment) => {
    const items: EvalItem[] = [];
    for (let i = 0; i < cases; i++) {
      const [baseline, candidate] = kind(next);
      items.push(
        ...repeatsOf(`case_${i}`, 'a', scoresOf(baseline)),
        ...repeatsOf(`case_${i}`, 'b', scoresOf(candidate)),
      );
    }
    return compareVariants(items, { baseline: 'a', candidate: 'b', seed: experiment, resamples: 500 }).verdict;
  });
  const share = (verdict: string) => verdicts.filter((each) => each === verdict).length / verdicts.length;
  return { worse: share('worse'), better: share('better') };
}

test.each([
  { name: 'unlike', kind: unlike([0.1, 0.3]), atLeast: 0.98 },
  { name: 'very unlike', kind: veryUnlike([0.9, 0.7]), atLeast: 0.9 },
])('a variant that passes 0.7 instead of 0.9 of 60 $name cases is found', ({ name, kind, atLeast }) => {
  const found = foundIn(60, kind);
  console.log(`worse, 60 ${name} cases:`, found);
  expect(found.worse).toBeGreaterThanOrEqual(atLeast);
  expect(found.better).toBe(0);
});

test.each([
  { name: 'unlike', kind: unlike([0.1, 0.1]), cases: 60 },
  { name: 'very unlike', kind: veryUnlike([0.9, 0.9]), cases: 20 },
  { name: 'very unlike', kind: veryUnlike([0.9, 0.9]), cases: 8 },
])('a difference that is not there is found in about 5 % of evals: $cases $name cases', ({ name, kind, cases }) => {
  const { worse, better } = foundIn(cases, kind);
  console.log(`no difference, ${cases} ${name} cases:`, { worse, better });
  // 5 % of 200 is 10; 17 and more have a chance of 1 in 40
  expect(worse + better).toBeLessThan(0.085);
  // a method that never finds anything would pass otherwise
  expect(worse + better).toBeGreaterThan(0.01);
});
