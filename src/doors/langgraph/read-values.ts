import {
  type SerializerProtocol,
  compareWritesSortKeys,
  writesSortKey,
  WRITES_IDX_MAP,
  type CheckpointPendingWrite,
  type PendingWrite,
} from '@langchain/langgraph-checkpoint';
import type { Json, JsonObject } from '../../agent/context/message.ts';
import type { Database } from '../../database/postgres/pool.ts';
import { readBases, readField, unreadable } from '../../database/store/history/read-payloads.ts';
import { TextCount, type Address } from '../../runs/formats/mirror/addresses.ts';
import { isStored, type Stored, type StoredValues, writesOf } from '../../runs/formats/mirror/langgraph-entry.ts';
import { load, dump, type Dumped } from './dump.ts';
import { hashOf, locate, storedList, type Located, type StoredList } from './stored.ts';

/** The texts of some addresses. */
export type Texts = (address: Address) => string;

export interface Found {
  at: number;
  located: { type: string; address: Address } | { items: Address[]; depth: number };
}

/** Finds the values of some checkpoints, in their order, by channel. */
export async function findValues(
  db: Database,
  threadId: string,
  entries: readonly { seq: number; values: StoredValues }[],
): Promise<Map<string, Found>[]> {
  const named = new Set(entries.flatMap(({ values }) => Object.values(values).filter((v) => typeof v === 'number')));
  const others = await readField(db, threadId, [...named], 'values');
  const homes = entries.map(({ seq, values }) =>
    Object.entries(values).map(([channel, value]) => {
      if (typeof value !== 'number') return { channel, at: seq, stored: value };
      return { channel, at: value, stored: storedIn(others.get(value), channel, value) };
    }),
  );
  const continued = new Map<string, Set<number>>();
  for (const { channel, stored } of homes.flat())
    if ('base' in stored && stored.base !== undefined)
      continued.set(channel, (continued.get(channel) ?? new Set()).add(stored.base));
  const bases = new Map(
    await Promise.all(
      [...continued].map(async ([channel, seqs]) => {
        const found = await readBases(db, threadId, channel, [...seqs]);
        return [channel, listsOf(found, channel)] as const;
      }),
    ),
  );
  return homes.map((values) => {
    const texts = new TextCount();
    return new Map(
      values.map(({ channel, at, stored }) => {
        const located = locate(stored, at, (seq) => listIn(bases.get(channel), channel, seq));
        texts.count(addressesOf(located).length, at);
        return [channel, { at, located }];
      }),
    );
  });
}

function storedIn(values: unknown, channel: string, seq: number): Stored {
  const stored = (values as StoredValues | undefined)?.[channel];
  if (!isStored(stored)) throw unreadable(`The value of the channel ${channel} in entry ${seq}`);
  return stored;
}

function listIn(lists: ReadonlyMap<number, StoredList> | undefined, channel: string, seq: number): StoredList {
  const list = lists?.get(seq);
  if (!list) throw unreadable(`The list of the channel ${channel} in entry ${seq}`);
  return list;
}

/** The lists that others continue, by entry. */
function listsOf(chain: ReadonlyMap<number, unknown>, channel: string): Map<number, StoredList> {
  const lists = new Map<number, StoredList>();
  for (const [seq, value] of chain) {
    const stored = storedIn({ [channel]: value }, channel, seq);
    if ('list' in stored) lists.set(seq, storedList(stored, seq));
  }
  return lists;
}

/** Reads the texts of addresses. `own`: the parts of entries that were read already. */
export async function readTexts(
  db: Database,
  threadId: string,
  addresses: readonly Address[],
  own: ReadonlyMap<number, readonly string[]>,
): Promise<Texts> {
  const missing = new Set(addresses.map(({ seq }) => seq).filter((seq) => !own.has(seq)));
  const others = await readField(db, threadId, [...missing], 'parts');
  return ({ seq, index }) => {
    const text = (own.get(seq) ?? (others.get(seq) as Json[] | undefined) ?? [])[index];
    if (typeof text !== 'string') throw unreadable(`The part ${index} of entry ${seq}`);
    return text;
  };
}

export const addressesOf = (located: Found['located']): Address[] =>
  'items' in located ? located.items : [located.address];

/** The value itself. */
export const loadValue = async (
  serde: SerializerProtocol,
  located: Found['located'],
  texts: Texts,
): Promise<unknown> =>
  'items' in located
    ? Promise.all(located.items.map((address) => load(serde, 'json', texts(address))))
    : load(serde, located.type, texts(located.address));

/** With the hashes of its texts, to compare it with a later value. */
export const withHashes = (located: Found['located'], texts: Texts): Located =>
  'items' in located
    ? { ...located, hashes: located.items.map((address) => hashOf(texts(address))) }
    : { ...located, hash: hashOf(texts(located.address)) };

export interface DumpedWrite {
  idx: number;
  channel: string;
  value: Dumped;
}

export const dumpWrites = (serde: SerializerProtocol, writes: readonly PendingWrite[]): Promise<DumpedWrite[]> =>
  Promise.all(
    writes.map(async ([channel, value], i) => ({
      idx: WRITES_IDX_MAP[channel] ?? i,
      channel,
      value: await dump(serde, value, `The write to the channel ${JSON.stringify(channel)}`),
    })),
  );

/** A write in force. */
export interface FoundWrite {
  task: string;
  path: string;
  idx: number;
  channel: string;
  located: Found['located'];
}

/**
 * The writes in force, in the order in which LangGraph applies them. Entries come in the order of the log: of the
 * writes of one task and index the first counts, of those for errors, interrupts and resumes the last.
 */
export function foldWrites(entries: readonly { seq: number; payload: JsonObject }[]): FoundWrite[] {
  const found = new Map<string, FoundWrite>();
  const texts = new TextCount();
  for (const entry of entries) {
    const { seq } = entry;
    const { task, path = '', writes } = writesOf(entry);
    for (const [idx, channel, stored] of writes) {
      const key = `${idx} ${task}`;
      if (idx >= 0 && found.has(key)) continue;
      // a list of writes never continues another one
      const located = locate(stored, seq, () => ({ own: [] }));
      texts.count(addressesOf(located).length, seq);
      found.set(key, { task, path, idx, channel, located });
    }
  }
  const sortKey = ({ path, task, idx }: FoundWrite) => writesSortKey(path, task, idx);
  return [...found.values()].sort((a, b) => compareWritesSortKeys(sortKey(a), sortKey(b)));
}

export const addressesOfWrites = (writes: readonly FoundWrite[]) =>
  writes.flatMap(({ located }) => addressesOf(located));

export const loadWrites = (
  serde: SerializerProtocol,
  writes: readonly FoundWrite[],
  texts: Texts,
): Promise<CheckpointPendingWrite[]> =>
  Promise.all(
    writes.map(async ({ task, channel, located }): Promise<CheckpointPendingWrite> => [
      task,
      channel,
      await loadValue(serde, located, texts),
    ]),
  );

/** Whether these writes would change nothing. */
export const areInForce = (
  dumped: readonly DumpedWrite[],
  task: string,
  found: readonly FoundWrite[],
  texts: Texts,
): boolean =>
  dumped.every(({ idx, channel, value }) => {
    const before = found.find((write) => write.task === task && write.idx === idx);
    if (!before || idx >= 0) return before !== undefined;
    const { located } = before;
    if (before.channel !== channel) return false;
    if (!('items' in value))
      return 'type' in located && value.type === located.type && value.text === texts(located.address);
    if (!('items' in located) || located.items.length !== value.items.length) return false;
    return value.items.every((text, i) => text === texts(located.items[i]!));
  });
