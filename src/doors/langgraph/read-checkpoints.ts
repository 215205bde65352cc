import {
  maxChannelVersion,
  TASKS,
  type BaseCheckpointSaver,
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointTuple,
} from '@langchain/langgraph-checkpoint';
import type { Database } from '../../database/postgres/pool.ts';
import type { Address } from '../../runs/formats/mirror/addresses.ts';
import { readAppended, type Appended, readEnds, readReceipt } from '../../database/store/history/read-appended.ts';
import { unreadable } from '../../database/store/history/read-payloads.ts';
import { load } from './dump.ts';
import { additionsTo, type Place, checkpointKey, checkpointsOf } from './keys.ts';
import { checkpointKind, checkpointOf, type CheckpointPayload } from '../../runs/formats/mirror/langgraph-entry.ts';
import {
  addressesOf,
  findValues,
  loadValue,
  readTexts,
  type Found,
  type Texts,
  addressesOfWrites,
  foldWrites,
  loadWrites,
  type FoundWrite,
} from './read-values.ts';
import { parseJson } from '../../base/common/json.ts';
import { threadErased } from '../../database/store/missing.ts';

/** A checkpoint as the log has it. */
export interface FoundCheckpoint {
  seq: number;
  payload: CheckpointPayload;
  values: ReadonlyMap<string, Found>;
  writes: FoundWrite[];
  texts: Texts;
}

/** Reads checkpoints of a namespace, given their entries, with their writes and values. */
export async function readCheckpoints(
  db: Database,
  threadId: string,
  ns: string,
  found: readonly Appended[],
): Promise<FoundCheckpoint[]> {
  const entries = found.filter(({ kind }) => kind === checkpointKind);
  if (entries.length === 0) return [];
  const ids = entries.map((entry) => checkpointOf(entry).id);
  const [first, last] = [ids.reduce((a, b) => (a < b ? a : b)), ids.reduce((a, b) => (a > b ? a : b))];
  const added = (await readAppended(db, threadId, additionsTo(ns, first, last))).entries;
  added.sort((a, b) => a.seq - b.seq);
  // a checkpoint that was stored again counts as it was stored last
  const latest = entries.map(
    (entry, i) => added.findLast(({ kind, payload }) => kind === checkpointKind && payload['id'] === ids[i]) ?? entry,
  );
  const writes = ids.map((id) =>
    foldWrites(added.filter(({ kind, payload }) => kind !== checkpointKind && payload['checkpoint'] === id)),
  );
  const values = await findValues(
    db,
    threadId,
    latest.map((entry) => ({ seq: entry.seq, values: checkpointOf(entry).values })),
  );
  const own = new Map([...added, ...latest].map(({ seq, payload }) => [seq, payload['parts'] as string[]]));
  const addresses = [
    ...values.flatMap((channels) => [...channels.values()].flatMap(({ located }) => addressesOf(located))),
    ...writes.flatMap(addressesOfWrites),
  ];
  const texts = await readTexts(db, threadId, addresses, own);
  for (const [i, { seq }] of latest.entries())
    assertSize(
      seq,
      [...[...values[i]!.values()].flatMap(({ located }) => addressesOf(located)), ...addressesOfWrites(writes[i]!)],
      texts,
    );
  return latest.map((entry, i) => ({
    seq: entry.seq,
    payload: checkpointOf(entry),
    values: values[i]!,
    writes: writes[i]!,
    texts,
  }));
}

/** The characters of all values of a checkpoint, and of what was written to it: a text may be named many times. */
const maxChars = 2 ** 28;

function assertSize(seq: number, addresses: readonly Address[], texts: Texts): void {
  let chars = 0;
  for (const address of addresses)
    if ((chars += texts(address).length) > maxChars)
      throw unreadable(`The checkpoint in entry ${seq}, with more than ${maxChars} characters,`);
}

type Saver = Pick<BaseCheckpointSaver, 'serde' | 'getNextVersion'>;

/** Versions of the format before this one kept the sends of a checkpoint with its parent. */
const sendsInChannel = 4;

export const needsSendsOfParent = ({ payload }: FoundCheckpoint): boolean =>
  payload.parent !== undefined && (parseJson(payload.checkpoint) as Checkpoint).v < sendsInChannel;

/** A checkpoint as LangGraph reads it. `parent`: for one that `needsSendsOfParent`. */
export async function toTuple(
  saver: Saver,
  { threadId, ns }: Place,
  { payload, values, writes, texts }: FoundCheckpoint,
  parent?: FoundCheckpoint,
): Promise<CheckpointTuple> {
  const { serde } = saver;
  const loaded = [...values].map(
    async ([channel, { located }]) => [channel, await loadValue(serde, located, texts)] as const,
  );
  const checkpoint = {
    ...(parseJson(payload.checkpoint) as Checkpoint),
    id: payload.id,
    channel_values: Object.fromEntries(await Promise.all(loaded)),
  };
  if (parent) {
    const sends = parent.writes.filter(({ channel }) => channel === TASKS);
    checkpoint.channel_values[TASKS] = (await loadWrites(serde, sends, parent.texts)).map(([, , value]) => value);
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_versions[TASKS] =
      versions.length > 0 ? maxChannelVersion(...versions) : saver.getNextVersion(undefined);
  }
  const configOf = (id: string) => ({ configurable: { thread_id: threadId, checkpoint_ns: ns, checkpoint_id: id } });
  return {
    config: configOf(payload.id),
    checkpoint,
    metadata: await loadMetadata(saver, payload),
    ...(payload.parent === undefined ? {} : { parentConfig: configOf(payload.parent) }),
    pendingWrites: await loadWrites(serde, writes, texts),
  };
}

export async function loadMetadata(
  { serde }: Pick<Saver, 'serde'>,
  { metadata }: Pick<CheckpointPayload, 'metadata'>,
): Promise<CheckpointMetadata> {
  if (Array.isArray(metadata)) return (await load(serde, ...metadata)) as CheckpointMetadata;
  const text = typeof metadata === 'string' ? metadata : JSON.stringify(metadata);
  return (await load(serde, 'json', text)) as CheckpointMetadata;
}

/** A checkpoint, or the newest one of a namespace. @throws LanefoldError `thread_erased` */
export async function findCheckpoint(
  db: Database,
  threadId: string,
  ns: string,
  id?: string,
): Promise<FoundCheckpoint | undefined> {
  const range = id === undefined ? checkpointsOf(ns) : only(checkpointKey(ns, id));
  const { erased, entries } = await readAppended(db, threadId, { ...range, limit: 1 });
  if (erased) throw threadErased(threadId);
  const [found] = await readCheckpoints(db, threadId, ns, entries);
  return found;
}

/** The receipt of the version of a checkpoint that was stored last; undefined if there is only the first one. */
export async function readVersion(
  db: Database,
  threadId: string,
  ns: string,
  id: string,
): Promise<{ hash: string; seq: number } | undefined> {
  const { entries } = await readAppended(db, threadId, additionsTo(ns, id));
  const versions = entries.filter(({ kind, payload }) => kind === checkpointKind && payload['id'] === id);
  const last = versions.sort((a, b) => a.seq - b.seq).at(-1);
  return last && readReceipt(db, threadId, last.key);
}

/** The range that has one key: no id has a space. */
const only = (key: string): { from: string; below: string } => ({ from: key, below: `${key} ` });

/** @throws LanefoldError `thread_erased` */
export async function assertKept(db: Database, threadId: string, contextRef: string): Promise<void> {
  if ((await readEnds(db, threadId, contextRef))?.erased) throw threadErased(threadId);
}
