import { deserialize, serialize } from 'node:v8';
import type { AgentInputItem } from '@openai/agents-core';
import { LanefoldError } from '../errors.ts';
import { unreadable } from '../store/history/unreadable.ts';
import { parseJson } from '../common/json.ts';

/*
 * Items as texts: JSON where it returns the same value, else the structured clone algorithm, in base64 behind a mark
 * that no JSON begins with. An item may have bytes, or fields that are undefined.
 */
const mark = 'v8:';

/** Copies a list of items, as `MemorySession` does. @throws LanefoldError `invalid_input` */
export function copyItems(items: unknown): AgentInputItem[] {
  if (!Array.isArray(items)) {
    throw new LanefoldError('invalid_input', 'The items are not a list.', { hint: 'Nothing was written.' });
  }
  return items.map((item: unknown, i) => {
    try {
      return structuredClone(item) as AgentInputItem;
    } catch (cause) {
      throw new LanefoldError('invalid_input', `Item ${i} cannot be stored: ${(cause as Error).message}.`, {
        hint: 'Nothing was written. Items are data: they have no functions.',
        cause,
      });
    }
  });
}

export const writeItem = (item: unknown): string =>
  isJson(item) ? JSON.stringify(item) : mark + serialize(item).toString('base64');

/** @throws LanefoldError `history_unreadable` */
export function readItem(text: string): AgentInputItem {
  try {
    return (
      text.startsWith(mark) ? deserialize(Buffer.from(text.slice(mark.length), 'base64')) : parseJson(text)
    ) as AgentInputItem;
  } catch (cause) {
    throw unreadable('An item of the session', cause);
  }
}

/** Whether JSON returns the same value. */
function isJson(value: unknown): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== 'object') return false;
  // a list with holes or fields has other keys than its indexes
  if (Array.isArray(value)) return Object.keys(value).length === value.length && Object.values(value).every(isJson);
  return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isJson);
}
