import type { Scorer } from './scorer.ts';
import { answerScorer } from './answer.ts';
import { containsScorer } from './contains.ts';
import { jsonScorer } from './json.ts';
import { toolScorer } from './tool.ts';

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
