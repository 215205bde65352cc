import { LanefoldError } from '../errors.ts';

/** A tool call by its place in the run, as the database keeps it: the round, from 1, and its index in the round, from 0. */
export interface CallRef {
  round: number;
  index: number;
}

/** How a call is named wherever people and programs name it, such as `1.0`. */
export const callName = ({ round, index }: { round?: unknown; index?: unknown }): string =>
  `${String(round)}.${String(index)}`;

/** Reads the name of a call. @throws LanefoldError `invalid_input` */
export function readCall(call: string): CallRef {
  const [, round, index] = (typeof call === 'string' && /^(\d{1,4})\.(\d{1,4})$/.exec(call)) || [];
  if (index !== undefined) return { round: Number(round), index: Number(index) };
  throw new LanefoldError('invalid_input', `${JSON.stringify(call)} is not a tool call.`, {
    hint: 'Pass its round and index, such as 1.0: `call` in approvals or waits of the run.',
  });
}
