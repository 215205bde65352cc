import type { JsonObject } from '../../../agent/context/message.ts';
import { unreadable } from '../../../database/store/history/read-payloads.ts';
import { rangesOf } from './addresses.ts';
import { isObject, parseJson } from '../../../base/common/json.ts';

export const checkpointKind = 'langgraph_checkpoint';
export const writesKind = 'langgraph_writes';

/**
 * A value in an entry: the texts are parts. A list may continue the list that another entry has for the channel: its
 * first `keep` items, then its own.
 */
export type Stored = { value: string; type?: string } | { list: string; base?: number; keep?: number };

/** The values of an entry as it stores them: a number names the entry that has the value of the channel. */
export type StoredValues = Record<string, Stored | number>;

/** The payload of an entry that has a checkpoint. */
export interface CheckpointPayload {
  id: string;
  ns?: string;
  /** The id of its parent. */
  parent?: string;
  /** JSON of everything else: format, time, versions. As text, because `jsonb` takes twice the space. */
  checkpoint: string;
  /** JSON, or the text of JSON that `jsonb` cannot store, or another type in base64. */
  metadata: JsonObject | string | [type: string, text: string];
  values: StoredValues;
  parts: string[];
  /** Where the lane of the namespace ends. */
  lane?: string | number;
}

/** The payload of an entry of writes. */
export interface WritesPayload {
  checkpoint: string;
  ns?: string;
  task: string;
  path?: string;
  writes: [idx: number, channel: string, value: Stored][];
  parts: string[];
}

interface Entry {
  seq: number;
  payload: JsonObject;
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isTextOrNone = (value: unknown): boolean => value === undefined || isText(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const areTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);

const areAddresses = (value: unknown): value is string => isText(value) && rangesOf(value, 0) !== undefined;

/** An end of a lane: a `seq`, or a text that is relative to the entry. */
export const isLaneField = (value: unknown): boolean =>
  value === undefined || Number.isSafeInteger(value) || (isText(value) && /^-?\d{1,15}$/.test(value));

/** Whether this is a `Stored` value. */
export function isStored(value: unknown): value is Stored {
  if (!isObject(value)) return false;
  const { value: one, type, list, base, keep } = value;
  if (one !== undefined) return isText(one) && one !== '' && areAddresses(one) && isTextOrNone(type);
  return areAddresses(list) && (base === undefined ? keep === undefined : isCount(base) && isCount(keep));
}

function isCheckpoint(text: unknown): boolean {
  if (!isText(text)) return false;
  try {
    return isObject((parseJson(text) as { channel_versions?: unknown } | null)?.channel_versions);
  } catch {
    return false;
  }
}

/** @throws LanefoldError `history_unreadable` */
export function checkpointOf({ seq, payload }: Entry): CheckpointPayload {
  const { id, ns, parent, checkpoint, metadata, values, parts, lane } = payload as Record<string, unknown>;
  const valid =
    isText(id) &&
    [ns, parent].every(isTextOrNone) &&
    isCheckpoint(checkpoint) &&
    (isText(metadata) || isObject(metadata) || (areTexts(metadata) && (metadata as string[]).length === 2)) &&
    isObject(values) &&
    Object.values(values).every((value) => isCount(value) || isStored(value)) &&
    areTexts(parts) &&
    isLaneField(lane);
  if (!valid) throw unreadable(`The checkpoint in entry ${seq}`);
  return payload as unknown as CheckpointPayload;
}

/** @throws LanefoldError `history_unreadable` */
export function writesOf({ seq, payload }: Entry): WritesPayload {
  const { checkpoint, ns, task, path, writes, parts } = payload as Record<string, unknown>;
  const isWrite = (write: unknown): boolean =>
    Array.isArray(write) &&
    write.length === 3 &&
    Number.isSafeInteger(write[0]) &&
    isText(write[1]) &&
    isStored(write[2]);
  const valid =
    [checkpoint, task].every(isText) &&
    [ns, path].every(isTextOrNone) &&
    Array.isArray(writes) &&
    writes.every(isWrite) &&
    areTexts(parts);
  if (!valid) throw unreadable(`The entry ${seq} with writes`);
  return payload as unknown as WritesPayload;
}
