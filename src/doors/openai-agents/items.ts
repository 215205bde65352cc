import { serialize } from 'node:v8';
import type { AgentInputItem } from '@openai/agents-core';
import { LanefoldError } from '../../base/errors.ts';
import { cloned, hasManyHoles, loadItem } from '../../runs/formats/mirror/openai-entry.ts';

/** Copies a list of items, as `MemorySession` does. @throws LanefoldError `invalid_input` */
export function copyItems(items: unknown): AgentInputItem[] {
  if (!Array.isArray(items)) {
    throw new LanefoldError('invalid_input', 'The items are not a list.', { hint: 'Nothing was written.' });
  }
  return items.map((item: unknown, i) => {
    try {
      if (hasManyHoles(item)) throw new Error('It has a list with holes');
      return structuredClone(item) as AgentInputItem;
    } catch (cause) {
      throw new LanefoldError('invalid_input', `Item ${i} cannot be stored: ${(cause as Error).message}.`, {
        hint: 'Nothing was written. Items are data: they have no functions.',
        cause,
      });
    }
  });
}

/** @throws LanefoldError `history_unreadable` */
export const readItem = (text: string): AgentInputItem => loadItem(text) as AgentInputItem;

export const writeItem = (item: unknown): string =>
  isJson(item) ? JSON.stringify(item) : cloned + serialize(item).toString('base64');

/** Whether JSON returns the same value. */
function isJson(value: unknown): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== 'object') return false;
  // a list with holes or fields has other keys than its indexes
  if (Array.isArray(value)) return Object.keys(value).length === value.length && Object.values(value).every(isJson);
  return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isJson);
}
