import { LanefoldError } from '../base/errors.ts';

/** What one request holds of a budget. */
export interface Holding {
  /** @throws LanefoldError `server_busy` if the budget or the share of its party would be exceeded */
  take(amount: number): void;
  /** Gives some of it back, by default all. */
  release(amount?: number): void;
}

/**
 * What all requests of a server together may hold, such as bytes. Requests of one party hold at most half of what the others
 * leave, so that no party fills the room of all.
 */
export class ByteBudget {
  #held = 0;
  readonly #byParty = new Map<string, number>();

  constructor(
    readonly bytes: number,
    readonly what: string,
    private readonly full = (_held: number) => `the ${what} of other requests fill its memory budget`,
  ) {}

  /** @param party who makes the request; without one, it may fill the whole budget */
  open(party: string | undefined): Holding {
    let own = 0;
    const change = (by: number) => {
      own += by;
      this.#held += by;
      if (party === undefined) return;
      const now = (this.#byParty.get(party) ?? 0) + by;
      if (now > 0) this.#byParty.set(party, now);
      else this.#byParty.delete(party);
    };
    return {
      take: (amount) => {
        if (this.#held + amount > this.bytes) throw serverBusy(this.full(this.#held));
        const ofParty = (party === undefined ? undefined : this.#byParty.get(party)) ?? 0;
        const left = this.bytes - (this.#held - ofParty);
        // a single request always fits
        if (ofParty > own && 2 * (ofParty + amount) > left)
          throw serverBusy(`the ${this.what} of other requests of this caller fill the share of one caller`);
        change(amount);
      },
      release: (amount = own) => change(-amount),
    };
  }
}

export const serverBusy = (why: string): LanefoldError =>
  new LanefoldError('server_busy', `The server is busy: ${why}.`, {
    hint: 'Nothing was written. Repeat the request after Retry-After seconds.',
  });
