import type { BaseCheckpointSaver, CheckpointTuple } from '@langchain/langgraph-checkpoint';
import { isDeepStrictEqual } from 'node:util';
import type { Database } from '../postgres/pool.ts';
import { readAppended, readKeys } from '../store/history/read-appended.ts';
import { allCheckpoints, checkpointsOf, langGraphIdOf } from './keys.ts';
import { findCheckpoint } from './find-checkpoint.ts';
import {
  loadMetadata,
  needsSendsOfParent,
  readCheckpoints,
  toTuple,
  type CheckpointPayload,
  type FoundCheckpoint,
} from './read-checkpoints.ts';

export interface ListQuery {
  /** Undefined: all namespaces. */
  ns: string | undefined;
  only: string | undefined;
  before: string | undefined;
  limit: number | undefined;
  /** Metadata that a checkpoint has to have. */
  filter: Record<string, unknown> | undefined;
}

/** How many checkpoints are read at once. */
const pageSize = 32;

/** Checkpoints by descending id, of one thread or of all. */
export async function* listCheckpoints(
  saver: BaseCheckpointSaver,
  db: Database,
  threadId: string | undefined,
  { ns, only, before, limit = Infinity, filter = {} }: ListQuery,
): AsyncGenerator<CheckpointTuple> {
  const conditions = Object.entries(filter);
  // the keys of a namespace sort as their ids
  const enough = conditions.length === 0 && only === undefined && limit < Infinity ? { limit: Math.max(0, limit) } : {};
  const range = ns === undefined ? allCheckpoints : { ...checkpointsOf(ns, before), ...enough };
  const all = await readKeys(db, threadId, range);
  const keys = all
    .map((found) => ({ ...found, id: found.key.split('.').slice(3).join('.') }))
    .filter(({ id }) => (before === undefined || id < before) && (only === undefined || id === only))
    .sort((a, b) => (a.id < b.id ? 1 : a.id > b.id ? -1 : 0));
  let left = limit;
  const size = conditions.length > 0 ? pageSize : Math.min(pageSize, limit);
  for (let i = 0; i < keys.length && left > 0; i += size) {
    for (const { found, on } of await readPage(db, keys.slice(i, i + size))) {
      const metadata = (await loadMetadata(saver, found.payload)) as Record<string, unknown>;
      if (!conditions.every(([key, value]) => isDeepStrictEqual(metadata[key], value))) continue;
      if (left-- <= 0) return;
      const { ns: own = '', parent: parentId } = found.payload;
      const parent = needsSendsOfParent(found) ? await findCheckpoint(db, on, own, parentId) : undefined;
      yield await toTuple(saver, { threadId: langGraphIdOf(on), ns: own }, found, parent);
    }
  }
}

interface Key {
  threadId: string;
  key: string;
}

/** The checkpoints of some keys, in their order. */
async function readPage(db: Database, keys: readonly Key[]): Promise<{ on: string; found: FoundCheckpoint }[]> {
  const places = new Map<string, Key[]>();
  for (const found of keys) {
    const place = `${found.threadId} ${found.key.split('.')[2]}`;
    places.set(place, [...(places.get(place) ?? []), found]);
  }
  const found = new Map<string, FoundCheckpoint>();
  for (const own of places.values()) {
    const { threadId } = own[0]!;
    const wanted = new Set(own.map(({ key }) => key));
    const range = { from: own.at(-1)!.key, below: `${own[0]!.key} ` };
    const { entries } = await readAppended(db, threadId, range);
    const listed = entries.filter(({ key }) => wanted.has(key));
    const { ns = '' } = (listed[0]?.payload ?? {}) as unknown as CheckpointPayload;
    for (const [i, checkpoint] of (await readCheckpoints(db, threadId, ns, listed)).entries())
      found.set(`${threadId} ${listed[i]!.key}`, checkpoint);
  }
  return keys.flatMap(({ threadId, key }) => {
    const checkpoint = found.get(`${threadId} ${key}`);
    return checkpoint ? [{ on: threadId, found: checkpoint }] : [];
  });
}
