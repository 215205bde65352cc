import type {
  BaseCheckpointSaver,
  CheckpointTuple,
  DeltaChannelHistory,
  SerializerProtocol,
} from '@langchain/langgraph-checkpoint';
import { isDeepStrictEqual } from 'node:util';
import type { Database } from '../../database/postgres/pool.ts';
import { readAppended, readKeys, type HistoryKey, readAncestors } from '../../database/store/history/read-appended.ts';
import { allCheckpoints, checkpointsOf, langGraphIdOf } from './keys.ts';
import {
  findCheckpoint,
  loadMetadata,
  needsSendsOfParent,
  readCheckpoints,
  toTuple,
  type FoundCheckpoint,
} from './read-checkpoints.ts';
import type { CheckpointPayload } from '../../runs/formats/mirror/langgraph-entry.ts';
import { unreadable } from '../../database/store/history/read-payloads.ts';
import { loadValue, loadWrites } from './read-values.ts';

interface ListQuery {
  /** Undefined: all namespaces. */
  ns: string | undefined;
  only: string | undefined;
  before: string | undefined;
  limit: number | undefined;
  /** Metadata that a checkpoint has to have. */
  filter: Record<string, unknown> | undefined;
}

/** How many checkpoints are read at once, and how many keys of checkpoints. */
const listedAtOnce = 32;
const keysAtOnce = 1_000;

/** Checkpoints by descending id, of one thread or of all. */
export async function* listCheckpoints(
  saver: BaseCheckpointSaver,
  db: Database,
  threadId: string | undefined,
  { ns, only, before, limit = Infinity, filter = {} }: ListQuery,
): AsyncGenerator<CheckpointTuple> {
  const conditions = Object.entries(filter);
  let left = limit;
  for await (const keys of pagesOfKeys(db, threadId, {
    ns,
    only,
    before,
    most: conditions.length > 0 ? Infinity : limit,
  })) {
    for (const { found, on } of await readPage(db, keys)) {
      const metadata = (await loadMetadata(saver, found.payload)) as Record<string, unknown>;
      if (!conditions.every(([key, value]) => isDeepStrictEqual(metadata[key], value))) continue;
      if (left-- <= 0) return;
      const { ns: own = '', parent: parentId } = found.payload;
      const parent = needsSendsOfParent(found) ? await findCheckpoint(db, on, own, parentId) : undefined;
      yield await toTuple(saver, { threadId: langGraphIdOf(on), ns: own }, found, parent);
    }
  }
}

/** The keys of at most as many checkpoints, in pages of which each is read at once. */
async function* pagesOfKeys(
  db: Database,
  threadId: string | undefined,
  { ns, only, before, most }: Pick<ListQuery, 'ns' | 'only' | 'before'> & { most: number },
): AsyncGenerator<HistoryKey[]> {
  // the keys of a namespace sort as their ids
  const by = ns === undefined ? 'id' : 'key';
  const range = ns === undefined ? allCheckpoints : checkpointsOf(ns, before);
  let left = most;
  for (let after: HistoryKey | undefined; left > 0;) {
    const limit = Math.min(keysAtOnce, left);
    const below = after && by === 'key' ? `${after.key} ` : range.below;
    const keys = await readKeys(db, threadId, { from: range.from, below, before, only, after, by, limit });
    for (let i = 0; i < keys.length; i += listedAtOnce) yield keys.slice(i, i + listedAtOnce);
    if (keys.length < limit) return;
    left -= limit;
    after = keys.at(-1);
  }
}

/** The checkpoints of some keys, in their order. */
async function readPage(db: Database, keys: readonly HistoryKey[]): Promise<{ on: string; found: FoundCheckpoint }[]> {
  const places = new Map<string, HistoryKey[]>();
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

/** How many ancestors are read at once. */
const pageSize = 64;

/**
 * The writes to channels that their value grew from: from the nearest ancestor that has a value, which is the `seed`,
 * or from the first checkpoint.
 */
export async function deltaHistory(
  serde: SerializerProtocol,
  db: Database,
  { threadId, ns, id, channels }: { threadId: string; ns: string; id: string | undefined; channels: string[] },
): Promise<Record<string, DeltaChannelHistory>> {
  /** By channel, from the newest checkpoint back. */
  const found = new Map<string, DeltaChannelHistory['writes'][]>(channels.map((channel) => [channel, []]));
  const seeds = new Map<string, unknown>();
  const open = new Set(channels);
  const of = open.size > 0 ? await findCheckpoint(db, threadId, ns, id) : undefined;
  for await (const ancestor of ancestorsOf(db, threadId, ns, of?.payload.parent)) {
    for (const channel of open) {
      const own = ancestor.writes.filter((write) => write.channel === channel);
      found.get(channel)!.push(await loadWrites(serde, own, ancestor.texts));
      const value = ancestor.values.get(channel);
      if (!value) continue;
      seeds.set(channel, await loadValue(serde, value.located, ancestor.texts));
      open.delete(channel);
    }
    if (open.size === 0) break;
  }
  return Object.fromEntries(
    [...found].map(([channel, writes]): [string, DeltaChannelHistory] => [
      channel,
      { writes: writes.reverse().flat(), ...(seeds.has(channel) ? { seed: seeds.get(channel) } : {}) },
    ]),
  );
}

async function* ancestorsOf(
  db: Database,
  threadId: string,
  ns: string,
  parent: string | undefined,
): AsyncGenerator<FoundCheckpoint> {
  const seen = new Set<number>();
  for (let first = parent; first !== undefined;) {
    const entries = await readAncestors(db, threadId, { prefix: checkpointsOf(ns).from, first, limit: pageSize });
    for (const { seq } of entries) {
      // one that is its own ancestor has no first one
      if (seen.has(seq)) throw unreadable(`The checkpoint in entry ${seq}`);
      seen.add(seq);
    }
    const page = await readCheckpoints(db, threadId, ns, entries);
    yield* page;
    first = page.length < pageSize ? undefined : page.at(-1)!.payload.parent;
  }
}
