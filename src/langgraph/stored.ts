import { readAddresses, settle, writeAddresses, type Address, type Parts } from './parts.ts';
import { shortHash } from './keys.ts';
import type { Dumped } from './dump.ts';

/**
 * A value in an entry: the texts are parts. A list may continue the list that another entry has for the channel: its
 * first `keep` items, then its own.
 */
export type Stored = { value: string; type?: string } | { list: string; base?: number; keep?: number };

/** A stored value with the addresses of its texts, and what it takes to find out whether a later value differs. */
export type Located =
  | { type: string; address: Address; hash: string }
  | {
      items: Address[];
      hashes: string[];
      /** How many entries have to be read to find the items. */
      depth: number;
    };

/** A value that a checkpoint has, in the entry `at`. */
export type ChannelValue = Located & { at: number; version: string };

const isList = (value: Located): value is Extract<Located, { items: Address[] }> => 'items' in value;

/** Whether a channel still has the value of an earlier checkpoint. */
export function isSame(dumped: Dumped, before: Located | undefined): boolean {
  if (!before) return false;
  if (!('items' in dumped))
    return !isList(before) && before.type === dumped.type && before.hash === hashOf(dumped.text);
  if (!isList(before) || before.items.length !== dumped.items.length) return false;
  return dumped.items.every((text, i) => shortHash(text) === before.hashes[i]);
}

export const hashOf = shortHash;

/** Reading a list may take this many entries for its beginning, and one more for each eighth item. */
const freeDepth = 64;

/** Stores a value: what the thread already has is named, and a list continues the one that it grew from. */
export function store(parts: Parts, dumped: Dumped, before?: ChannelValue): { stored: Stored; located: Located } {
  if (!('items' in dumped)) {
    const { type, text } = dumped;
    const hash = hashOf(text);
    const address = parts.add(text, hash);
    const stored = { value: writeAddresses([address]), ...(type === 'json' ? {} : { type }) };
    return { stored, located: { type, address, hash } };
  }
  const hashes = dumped.items.map((text) => hashOf(text));
  const earlier = before && isList(before) ? before : undefined;
  let keep = 0;
  while (earlier && keep < hashes.length && earlier.hashes[keep] === hashes[keep]) keep += 1;
  const known = new Map(earlier?.hashes.map((hash, i) => [hash, earlier.items[i]!]));
  const added = dumped.items
    .slice(keep)
    .map((text, i) => known.get(hashes[keep + i]!) ?? parts.add(text, hashes[keep + i]));
  const kept = earlier?.items.slice(0, keep) ?? [];
  const items = [...kept, ...added];
  if (earlier && keep > 0 && earlier.depth < freeDepth + items.length / 8) {
    const stored = { list: writeAddresses(added), base: earlier.at, keep };
    return { stored, located: { items, hashes, depth: earlier.depth + 1 } };
  }
  return { stored: { list: writeAddresses(items) }, located: { items, hashes, depth: 1 } };
}

/** A value once its entry has its `seq`. */
export const settled = (located: Located, seq: number): Located =>
  isList(located)
    ? { ...located, items: located.items.map((address) => settle(address, seq)) }
    : { ...located, address: settle(located.address, seq) };

/** Where the texts of a stored value are. `base`: the items of the entry that it continues, and their depth. */
export function locate(
  stored: Stored,
  seq: number,
  base: (seq: number) => { items: Address[]; depth: number },
): { type: string; address: Address } | { items: Address[]; depth: number } {
  if ('value' in stored) return { type: stored.type ?? 'json', address: readAddresses(stored.value, seq)[0]! };
  const own = readAddresses(stored.list, seq);
  if (stored.base === undefined) return { items: own, depth: 1 };
  const { items, depth } = base(stored.base);
  return { items: [...items.slice(0, stored.keep), ...own], depth: depth + 1 };
}
