import type { Address } from '../../runs/formats/mirror/addresses.ts';
import { shortHash } from './keys.ts';

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
