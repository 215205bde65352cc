/** What a function raises, by its SQLSTATE. Nothing was written. */
export class Refusal extends Error {
  constructor(readonly code: string) {
    super(`refused with ${code}`);
  }
}

/** @throws Refusal always */
export function refuse(code: string): never {
  throw new Refusal(code);
}

export const notHeld = 'LF012';
export const noRun = 'LF011';
export const otherBody = 'LF007';
