import fc from 'fast-check';
import { defineScorer, scoreAnswer, type Scorer } from 'lanefold/evals';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { inputOf } from './items.ts';

const scorerOf = (score: unknown, name = 'it'): Scorer =>
  defineScorer({ name, score: (typeof score === 'function' ? score : () => score) as never });
const scored = async (score: unknown) => (await scoreAnswer([scorerOf(score)], inputOf()))[0]!;

describe('defineScorer', () => {
  const score = () => 1;
  test.each([
    ['a name that a condition could not read', { name: 'a b', score }],
    ['a name that begins with a digit', { name: '1st', score }],
    ['no name', { score }],
    ['an empty version', { name: 'it', version: '', score }],
    ['a version that is a number', { name: 'it', version: 2, score }],
    ['no time', { name: 'it', timeoutMs: 0, score }],
    ['more time than a timer takes', { name: 'it', timeoutMs: 2 ** 31, score }],
    ['no function', { name: 'it', score: 1 }],
    ['an unknown option', { name: 'it', score, timeout: 5 }],
  ])('rejects %s', (_, definition) => {
    expect(() => defineScorer(definition as never)).toThrow(expect.objectContaining({ code: 'invalid_scorer' }));
  });
});

describe('scoreAnswer', () => {
  test.each([
    [0.25, 0.25, null],
    [true, 1, null],
    [false, 0, null],
    [-0, 0, null],
    [null, null, null],
    [{ score: false, reason: 'too long' }, 0, 'too long'],
    [{ score: null }, null, null],
    [async () => 1, 1, null],
  ])('takes %j', async (result, score, reason) => {
    expect(await scored(result)).toEqual({ scorer: 'it', version: null, score, reason, error: null });
  });

  test.each([
    [Number.NaN, 'The scorer returned NaN, which is not from 0 to 1.'],
    [1.5, 'The scorer returned 1.5, which is not from 0 to 1.'],
    [-0.1, 'The scorer returned -0.1, which is not from 0 to 1.'],
    [undefined, 'The scorer returned nothing, not a number from 0 to 1, a boolean or null.'],
    ['good', 'The scorer returned a value of type string, not a number from 0 to 1, a boolean or null.'],
    [{ reason: 'forgot' }, 'The scorer returned nothing, not a number from 0 to 1, a boolean or null.'],
    [{ score: 1, reason: [1] }, 'The scorer returned a reason that is not a text but a list.'],
    [{ score: 1, reason: undefined, more: 1n }, null],
    [
      () => {
        throw new Error('no network');
      },
      'The scorer threw: no network',
    ],
    [() => Promise.reject('plain text'), 'The scorer threw: plain text'],
    [
      () => {
        throw Object.create(null);
      },
      'The scorer threw: a value that cannot be printed',
    ],
  ])('turns %s into an error', async (result, error) => {
    expect(await scored(result)).toMatchObject(error === null ? { error } : { score: null, reason: null, error });
  });

  test('whatever a scorer returns, gives one score that can be stored', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.anything({ withBigInt: true, withNullPrototype: true }),
        fc.boolean(),
        async (value, thrown) => {
          const score = await scored(() => {
            if (thrown) throw value;
            return value;
          });
          expect(score.score === null || (score.score >= 0 && score.score <= 1)).toBe(true);
          expect(score.score === null || score.error === null).toBe(true);
          expect(JSON.parse(JSON.stringify(score))).toEqual(score);
        },
      ),
    );
  });

  test('stops a scorer at its time, tells it, and keeps the scores of the others', async () => {
    let stopped: unknown;
    const hangs = defineScorer({
      name: 'hangs',
      version: '2',
      timeoutMs: 5,
      score: ({ signal }) => new Promise(() => signal.addEventListener('abort', () => (stopped = signal.reason))),
    });
    const scores = await scoreAnswer([hangs, scorerOf(1)], inputOf());
    expect(scores).toEqual([
      {
        scorer: 'hangs',
        version: '2',
        score: null,
        reason: null,
        error: 'The scorer gave no score within 5 ms.',
      },
      { scorer: 'it', version: null, score: 1, reason: null, error: null },
    ]);
    expect(stopped).toBeInstanceOf(Error);
  });

  describe('by the clock', () => {
    let now = 0;
    beforeEach(() => void vi.spyOn(performance, 'now').mockImplementation(() => now));
    afterEach(() => vi.restoreAllMocks());
    const block = (ms: number) => void (now += ms);
    const limit = 60_000;

    test.each([
      ['returns', () => (block(limit + 1), 1)],
      ['resolves', async () => (await null, block(limit + 1), 1)],
      ['throws', () => (block(limit + 1), expect.unreachable())],
      ['rejects', async () => (await null, block(limit + 1), expect.unreachable())],
    ])('a scorer that blocks the thread beyond its time gives no score when it %s', async (_, score) => {
      let own: AbortSignal | undefined;
      const blocks = defineScorer({
        name: 'blocks',
        timeoutMs: limit,
        score: ({ signal }) => ((own = signal), score()),
      });
      expect(await scoreAnswer([scorerOf(async () => 1), blocks, scorerOf(0)], inputOf())).toMatchObject([
        { score: 1, error: null },
        { score: null, error: `The scorer gave no score within ${limit} ms.` },
        { score: 0, error: null },
      ]);
      expect(own!.aborted).toBe(true);
    });

    test('one that takes all of its time gives one', async () => {
      const slow = defineScorer({ name: 'slow', timeoutMs: limit, score: async () => (block(limit), 1) });
      expect(await scoreAnswer([slow], inputOf())).toMatchObject([{ score: 1 }]);
    });
  });

  test('runs the scorers beside each other', async () => {
    let endsFirst = (_: number): void => {};
    const waits = scorerOf(() => new Promise((resolve) => (endsFirst = resolve)), 'waits');
    const ends = scorerOf(() => (endsFirst(1), 0), 'ends');
    const scores = await scoreAnswer([waits, ends], inputOf());
    expect(scores.map(({ score }) => score)).toEqual([1, 0]);
  });

  test.each(['before', 'while'])('is cancelled %s it scores', async (when) => {
    const cancel = new AbortController();
    if (when === 'before') cancel.abort();
    const waits = scorerOf(() => new Promise(() => cancel.abort()));
    const [score] = await scoreAnswer([waits], inputOf(), { signal: cancel.signal });
    expect(score).toMatchObject({ score: null, error: 'The scorer was stopped because scoring was cancelled.' });
  });

  test('asks only the scorer that the case names', async () => {
    const scorers = [scorerOf(0, 'one'), scorerOf(1, 'other')];
    const by = async (scorer: string) => await scoreAnswer(scorers, inputOf({ expected: { scorer } }));
    expect(await by('other')).toMatchObject([{ scorer: 'other', score: 1 }]);
    expect(await by('third')).toMatchObject([
      { scorer: 'third', score: null, error: expect.stringContaining('no scorer') },
    ]);
  });
});
