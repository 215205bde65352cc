import { shortHash } from './keys.ts';

/** Where a text is: a part of an entry. `seq` -1: of the entry being written. */
export interface Address {
  seq: number;
  index: number;
}

/** Shorter texts are written again rather than named. */
const worthNaming = 48;

/** The texts that an entry stores. A text that the thread already has is named instead. */
export class Parts {
  readonly texts: string[] = [];
  readonly hashes: string[] = [];
  readonly #own = new Map<string, number>();

  constructor(private readonly known: { get(hash: string): Address | undefined }) {}

  add(text: string, hash = shortHash(text)): Address {
    const before = text.length < worthNaming ? undefined : this.known.get(hash);
    if (before) return before;
    const own = text.length < worthNaming ? undefined : this.#own.get(hash);
    if (own !== undefined) return { seq: -1, index: own };
    this.hashes.push(hash);
    const index = this.texts.push(text) - 1;
    this.#own.set(hash, index);
    return { seq: -1, index };
  }
}

/** Addresses after their entry got its `seq`. */
export const settle = ({ seq, index }: Address, own: number): Address => ({ seq: seq < 0 ? own : seq, index });

/** Addresses as an entry stores them: `0-2 17.1` are the parts 0 to 2 of the entry itself, then part 1 of entry 17. */
export function writeAddresses(addresses: readonly Address[]): string {
  const ranges: { seq: number; first: number; last: number }[] = [];
  for (const { seq, index } of addresses) {
    const range = ranges.at(-1);
    if (range && range.seq === seq && range.last === index - 1) range.last = index;
    else ranges.push({ seq, first: index, last: index });
  }
  return ranges
    .map(({ seq, first, last }) => `${seq < 0 ? '' : `${seq}.`}${first}${last > first ? `-${last}` : ''}`)
    .join(' ');
}

export function readAddresses(text: string, own: number): Address[] {
  if (text === '') return [];
  return text.split(' ').flatMap((range) => {
    const [, seq, first, last = first] = /^(?:(\d+)\.)?(\d+)(?:-(\d+))?$/.exec(range)!;
    const addresses: Address[] = [];
    for (let index = Number(first); index <= Number(last); index++)
      addresses.push({ seq: seq === undefined ? own : Number(seq), index });
    return addresses;
  });
}
