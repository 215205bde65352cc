import { deserialize } from 'node:v8';
import type { JsonObject } from '../../../agent/context/message.ts';
import { parseJson } from '../../../base/common/json.ts';
import { unreadable } from '../../../database/store/history/read-payloads.ts';
import { isLaneField } from './langgraph-entry.ts';

export const itemsKind = 'openai_agents_items';

/** The payload of an entry of a session. */
export interface ItemsPayload {
  /** How many items go from the end, before the new ones. */
  drop?: number;
  /** Everything before goes: nothing before this entry has to be read. */
  clear?: true;
  /** With `clear`, for a compaction: `epoch` stays what it was. */
  epoch?: number;
  items: string[];
  /** Where the lane ends. */
  lane?: string | number;
}

/** What an entry of a session changes. @throws LanefoldError `history_unreadable` */
export function changeOf({ seq, payload }: { seq: number; payload: JsonObject }): ItemsPayload {
  const { drop, clear, epoch, items, lane } = payload as Record<string, unknown>;
  const valid =
    (drop === undefined || (Number.isSafeInteger(drop) && (drop as number) > 0)) &&
    (clear === undefined || clear === true) &&
    (epoch === undefined || Number.isSafeInteger(epoch)) &&
    Array.isArray(items) &&
    items.every((item) => typeof item === 'string') &&
    isLaneField(lane);
  if (!valid) throw unreadable(`The session in entry ${seq}`);
  return payload as unknown as ItemsPayload;
}

/*
 * Items as texts: JSON where it returns the same value, else the structured clone algorithm, in base64 behind a mark
 * that no JSON begins with. An item may have bytes, or fields that are undefined.
 */
export const cloned = 'v8:';

/** How many places without an item the lists of an item may have: a few bytes make a list of four thousand million. */
const maxHoles = 10_000;

/** @throws LanefoldError `history_unreadable` */
export function loadItem(text: string): unknown {
  let item: unknown;
  try {
    if (!text.startsWith(cloned)) return parseJson(text);
    item = deserialize(Buffer.from(text.slice(cloned.length), 'base64'));
  } catch (cause) {
    throw unreadable('An item of the session', cause);
  }
  if (hasManyHoles(item)) throw unreadable('An item of the session, with a list that has many holes,');
  return item;
}

/** Visits each object once, without recursion: a value may contain itself, and be nested deeply. */
export function hasManyHoles(value: unknown): boolean {
  let holes = 0;
  const seen = new Set<unknown>();
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null || ArrayBuffer.isView(next) || seen.has(next)) continue;
    seen.add(next);
    const own = next instanceof Map ? [...next].flat() : next instanceof Set ? [...next] : Object.values(next);
    if (Array.isArray(next)) holes += Math.max(0, next.length - own.length);
    for (const each of own) open.push(each);
  }
  return holes > maxHoles;
}
