import type { SerializerProtocol } from '@langchain/langgraph-checkpoint';
import type { Json } from '../context/message.ts';
import type { Database } from '../postgres/pool.ts';
import { readBases, readField } from '../store/history/read-payloads.ts';
import { unreadable } from '../store/history/unreadable.ts';
import { isStored, type StoredValues } from './payloads.ts';
import { load } from './dump.ts';
import type { Address } from './parts.ts';
import { hashOf, locate, type Located, type Stored } from './stored.ts';

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
        return [channel, itemsOf(found, channel)] as const;
      }),
    ),
  );
  return homes.map(
    (values) =>
      new Map(
        values.map(({ channel, at, stored }) => [
          channel,
          { at, located: locate(stored, at, (seq) => listIn(bases.get(channel), channel, seq)) },
        ]),
      ),
  );
}

function storedIn(values: unknown, channel: string, seq: number): Stored {
  const stored = (values as StoredValues | undefined)?.[channel];
  if (!isStored(stored)) throw unreadable(`The value of the channel ${channel} in entry ${seq}`);
  return stored as Stored;
}

function listIn(lists: ReadonlyMap<number, ItemList> | undefined, channel: string, seq: number): ItemList {
  const list = lists?.get(seq);
  if (!list) throw unreadable(`The list of the channel ${channel} in entry ${seq}`);
  return list;
}

interface ItemList {
  items: Address[];
  depth: number;
}

/** The items of each list of a chain; a list comes after the one that it continues. */
function itemsOf(chain: ReadonlyMap<number, unknown>, channel: string): Map<number, ItemList> {
  const lists = new Map<number, ItemList>();
  for (const seq of [...chain.keys()].sort((a, b) => a - b)) {
    const stored = storedIn({ [channel]: chain.get(seq) }, channel, seq);
    const located = locate(stored, seq, (base) => listIn(lists, channel, base));
    if ('items' in located) lists.set(seq, located);
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
