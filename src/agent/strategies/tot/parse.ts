import type { JsonObject } from '../../context/message.ts';
import { maxDepth, parseJson } from '../../../base/common/json.ts';

/** The JSON object in the first ```json fence, or the JSON object that the text consists of; undefined without one. */
const jsonIn = (text: string): JsonObject | undefined => objectOf(fenced(text)) ?? objectOf(text);

function objectOf(text: string | undefined): JsonObject | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = parseJson(text, maxDepth);
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

function fenced(text: string): string | undefined {
  const opening = /```json\b/iu.exec(text);
  if (!opening) return undefined;
  const from = opening.index + opening[0].length;
  const to = text.indexOf('```', from);
  return text.slice(from, to < 0 ? undefined : to);
}

// a decimal such as "3.5 is" is not a list number
const marker = /^\s*(\d{1,9})[.:)](?!\d)/u;

/**
 * The items of a numbered list (`1.`, `1:` or `1)` at the start of a line), each up to the next number; blank items are
 * skipped.
 */
function numberedItems(text: string): { number: number; content: string }[] {
  const items: { number: number; lines: string[] }[] = [];
  for (const line of text.split('\n')) {
    const found = marker.exec(line);
    if (found) items.push({ number: Number(found[1]), lines: [line.slice(found[0].length)] });
    else items.at(-1)?.lines.push(line);
  }
  return items
    .map(({ number, lines }) => ({ number, content: lines.join('\n').trim() }))
    .filter(({ content }) => content !== '');
}

export type ParserMode = 'json' | 'regex';

/**
 * Parses the thoughts of a generation: from `{"thoughts": […]}`, with strings or objects with `content`, else from a
 * numbered list. Drops ids given by the model. Undefined if there are none.
 */
export function parseThoughts(text: string): { thoughts: string[]; mode: ParserMode } | undefined {
  const listed = jsonIn(text)?.['thoughts'];
  const fromJson = Array.isArray(listed) ? nonBlank(listed.map(contentOf)) : [];
  if (fromJson.length > 0) return { thoughts: fromJson, mode: 'json' };
  const fromList = numberedItems(text).map(({ content }) => content);
  return fromList.length > 0 ? { thoughts: fromList, mode: 'regex' } : undefined;
}

const contentOf = (item: unknown): string => {
  const content: unknown = typeof item === 'string' ? item : (Object(item) as { content?: unknown }).content;
  return typeof content === 'string' ? content : '';
};

const nonBlank = (texts: string[]): string[] => texts.map((text) => text.trim()).filter((text) => text !== '');

const unknownScore = 0.5;
const scoreLine = /^t?(\d{1,9})[.:)]\s*(-?\d+(?:\.\d+)?)/iu;

/**
 * Parses the scores of an evaluation, one for each thought: from `{"scores": {…}}` keyed by `t1`, `1` or the thought
 * itself, else from lines such as `1. 0.8`. Scores are between 0 and 1; a missing one is 0.5.
 */
export function parseScores(text: string, thoughts: readonly string[]): number[] {
  const given = jsonIn(text)?.['scores'];
  if (given !== null && typeof given === 'object' && !Array.isArray(given)) {
    return thoughts.map((thought, i) => {
      const key = [`t${i + 1}`, `${i + 1}`, thought].find((name) => Object.hasOwn(given, name));
      return key === undefined ? unknownScore : toScore(given[key]);
    });
  }
  const byIndex = new Map<number, number>();
  for (const line of text.split('\n')) {
    const found = scoreLine.exec(line.trimStart());
    if (found && !byIndex.has(Number(found[1]))) byIndex.set(Number(found[1]), toScore(found[2]));
  }
  return thoughts.map((_, i) => byIndex.get(i + 1) ?? unknownScore);
}

function toScore(value: unknown): number {
  const number = typeof value === 'string' ? parseFloat(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) return unknownScore;
  return Math.min(Math.max(number, 0), 1);
}
