import type { Json } from '../../../agent/context/message.ts';
import { withoutFence } from '../../../agent/contracts/contract.ts';
import { defineScorer, type Scorer } from './scorer.ts';
import { maxDepth, parseJson, isObject } from '../../../base/common/json.ts';

/**
 * The first difference between two JSON values, as `$.path is …, expected …`; null if there is none. With `extraKeys`,
 * objects may have keys that are not expected.
 */
function firstDifference(
  actual: Json | undefined,
  expected: Json,
  { extraKeys }: { extraKeys: boolean },
  path = '$',
): string | null {
  if (Array.isArray(expected) && Array.isArray(actual)) {
    if (actual.length !== expected.length) return `${path} has ${actual.length} elements, expected ${expected.length}`;
    return first(expected.keys(), (i) => firstDifference(actual[i], expected[i]!, { extraKeys }, `${path}[${i}]`));
  }
  if (isObject(expected) && isObject(actual)) {
    const extra = extraKeys ? undefined : Object.keys(actual).find((key) => !Object.hasOwn(expected, key));
    if (extra !== undefined) return `${path}.${extra} is ${show(actual[extra])}, expected nothing`;
    return first(Object.keys(expected), (key) =>
      firstDifference(
        Object.hasOwn(actual, key) ? actual[key] : undefined,
        expected[key]!,
        { extraKeys },
        `${path}.${key}`,
      ),
    );
  }
  return actual === expected ? null : `${path} is ${show(actual)}, expected ${show(expected)}`;
}

function first<T>(keys: Iterable<T>, differenceAt: (key: T) => string | null): string | null {
  for (const key of keys) {
    const difference = differenceAt(key);
    if (difference !== null) return difference;
  }
  return null;
}

const show = (value: Json | undefined): string => {
  if (value === undefined) return 'missing';
  const text = JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
};

/** `expected.answer` as JSON, if it is an object or a list: numbers and words are compared as text. */
const jsonScorer = defineScorer({
  name: 'json',
  version: '1',
  score: ({ answer, expected }) => {
    const wanted = expected.answer === undefined ? undefined : parseComposite(expected.answer);
    if (wanted === undefined) return null;
    const actual = parseComposite(withoutFence(answer));
    if (actual === undefined) return { score: false, reason: 'The answer is not a JSON object or list.' };
    const difference = firstDifference(actual, wanted, { extraKeys: false });
    return difference === null ? true : { score: false, reason: `${difference}.` };
  },
});

/** The JSON object or list that a text consists of; undefined for any other text. */
function parseComposite(text: string): Json | undefined {
  try {
    const value = parseJson(text, maxDepth) as Json;
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A text without the differences that do not change what it says: Unicode in composed form, each run of white space as one space,
 * none at the ends. Case and punctuation stay.
 */
export const normaliseText = (text: string): string =>
  text
    .normalize('NFC')
    .replace(/\p{White_Space}+/gu, ' ')
    .replace(/^ | $/g, '');

/** A text in quotation marks, cut to 200 characters. */
const quote = (text: string): string => JSON.stringify(text.length > 200 ? `${text.slice(0, 199)}…` : text);

/** `expected.contains`: the share of the phrases that the answer contains. An empty list expects nothing. */
const containsScorer = defineScorer({
  name: 'contains',
  version: '1',
  score: ({ answer, expected }) => {
    const phrases = expected.contains ?? [];
    if (phrases.length === 0) return null;
    const text = comparable(answer);
    const missing = phrases.filter((phrase) => !text.includes(comparable(phrase)));
    return {
      score: (phrases.length - missing.length) / phrases.length,
      reason: missing.length === 0 ? null : `Missing: ${missing.map(quote).join(', ')}.`,
    };
  },
});

const comparable = (text: string): string => normaliseText(text).toLowerCase();

/** `expected.tool`: whether the run called the tool with these arguments, among others. */
const toolScorer = defineScorer({
  name: 'tool',
  version: '1',
  score: ({ toolCalls, expected }) => {
    if (!expected.tool) return null;
    const { name, arguments: wanted = {} } = expected.tool;
    const calls = toolCalls.filter((call) => call.name === name);
    if (calls.length === 0) {
      const called = [...new Set(toolCalls.map((call) => call.name))];
      return { score: false, reason: `${name} was not called; ${called.join(', ') || 'no tool'} was.` };
    }
    const differences = calls.map((call) => firstDifference(call.arguments, wanted, { extraKeys: true }));
    if (differences.includes(null)) return true;
    return { score: false, reason: `${name} was called with other arguments: ${differences[0]}.` };
  },
});

/** `expected.answer` as text. An expected JSON object or list is left to the scorer `json`. */
const answerScorer = defineScorer({
  name: 'answer',
  version: '1',
  score: ({ answer, expected }) => {
    if (expected.answer === undefined || parseComposite(expected.answer) !== undefined) return null;
    const same = normaliseText(answer) === normaliseText(expected.answer);
    return same ? true : { score: false, reason: `Expected ${quote(expected.answer)}.` };
  },
});

/**
 * The scorers that need no setup. Each applies to the cases whose `expected` has its field:
 *
 * - `answer` (`expected.answer`): 1 if the answer is the same text after Unicode normalisation (NFC) and with every run of
 *   white space read as one space, else 0. Does not apply if both are JSON objects or lists.
 * - `json` (`expected.answer`): if the expected answer is a JSON object or list, 1 if the answer is the same JSON value. The order of
 *   keys does not matter, that of lists does. A fence of Markdown around the answer is ignored.
 * - `contains` (`expected.contains`): the share of the phrases that the answer contains, with the same normalisation and in
 *   any case; the reason lists the others.
 * - `tool` (`expected.tool`): 1 if a call of the tool has the expected arguments, else 0. Objects may have more keys than
 *   expected; lists and other values must be equal.
 */
export const builtInScorers: readonly Scorer[] = Object.freeze([answerScorer, jsonScorer, containsScorer, toolScorer]);
