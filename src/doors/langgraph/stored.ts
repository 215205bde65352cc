import {
  expand,
  maxTexts,
  rangesOf,
  writeAddresses,
  type Address,
  type AddressRange,
} from '../../runs/formats/mirror/addresses.ts';
import type { Stored } from '../../runs/formats/mirror/langgraph-entry.ts';
import { LanefoldError } from '../../base/errors.ts';
import { unreadable } from '../../database/store/history/read-payloads.ts';
import { settle, type Parts, shortHash } from './keys.ts';
import type { Dumped } from './dump.ts';

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

/** A list as an entry stores it, before what it continues is read. */
export interface StoredList {
  own: readonly AddressRange[];
  base?: number;
  keep?: number;
}

export const storedList = ({ list, base, keep }: Extract<Stored, { list: string }>, seq: number): StoredList => ({
  own: readRanges(list, seq),
  ...(base === undefined ? {} : { base, keep: keep! }),
});

/** @throws LanefoldError `invalid_input` for more texts than readers accept */
export function assertReadable(values: Iterable<Located>): void {
  let texts = 0;
  for (const value of values) texts += isList(value) ? value.items.length : 1;
  if (texts <= maxTexts) return;
  throw new LanefoldError('invalid_input', `The values have ${texts} items, more than ${maxTexts}.`, {
    hint: 'Nothing was written. Summarise or trim the lists in the state of the graph.',
  });
}

/**
 * Where the texts of a stored value are.
 *
 * @param listAt the list that another entry has for the channel
 */
export function locate(
  stored: Stored,
  seq: number,
  listAt: (seq: number) => StoredList,
): { type: string; address: Address } | { items: Address[]; depth: number } {
  if (!('value' in stored)) return locateList(storedList(stored, seq), seq, listAt);
  const [address] = expand(readRanges(stored.value, seq), 1);
  return { type: stored.type ?? 'json', address: address! };
}

/** From its end to its beginning, so that each list on the way is expanded only as far as it is kept. */
function locateList(list: StoredList, seq: number, listAt: (seq: number) => StoredList) {
  const pieces: Address[][] = [];
  let depth = 1;
  let wanted = Infinity;
  let from = seq;
  for (let at = list; ; depth += 1) {
    const { own, base, keep = 0 } = at;
    pieces.push(expand(own, Math.max(0, wanted - keep)));
    if (wanted !== Infinity && keep + pieces.at(-1)!.length < wanted) throw unreadable(`The list in entry ${from}`);
    if (keep > maxTexts) throw unreadable(`The list in entry ${from}`);
    if (base === undefined) break;
    if (base >= from) throw unreadable(`The list in entry ${from}`);
    wanted = Math.min(wanted, keep);
    [from, at] = [base, listAt(base)];
  }
  return { items: pieces.reverse().flat(), depth };
}

function readRanges(text: string, seq: number): AddressRange[] {
  const ranges = rangesOf(text, seq);
  if (!ranges) throw unreadable(`A value in entry ${seq}`);
  return ranges;
}
