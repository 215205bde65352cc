import { LanefoldError } from '../errors.ts';

/** Bytes that all requests of a server together may hold. */
export class ByteBudget {
  #held = 0;

  constructor(
    readonly bytes: number,
    readonly what: string,
  ) {}

  /** Reserves bytes. @throws LanefoldError `server_busy` if the budget would be exceeded */
  take(bytes: number): void {
    if (this.#held + bytes > this.bytes) throw serverBusy(`the ${this.what} of other requests fill its memory budget`);
    this.#held += bytes;
  }

  release(bytes: number): void {
    this.#held -= bytes;
  }
}

export const serverBusy = (why: string): LanefoldError =>
  new LanefoldError('server_busy', `The server is busy: ${why}.`, {
    hint: 'Nothing was written. Repeat the request after Retry-After seconds.',
  });
