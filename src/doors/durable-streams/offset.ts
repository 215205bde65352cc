import { invalid } from './errors.ts';

/** The conformance suite of the protocol expects the start of a stream under this token, and positions after it. */
const prefix = '0000000000000000_';
/** Enough for every whole number that JavaScript can count with. */
const digits = 16;

/** The token for a position: of constant length, so that tokens sort as their positions do. */
export const toOffset = (position: number): string => prefix + String(position).padStart(digits, '0');

/** The position of a token; `undefined` for `now`. @throws LanefoldError `invalid_input` */
export function readOffset(token: string): number | undefined {
  if (token === '-1') return 0;
  if (token === 'now') return undefined;
  const position = /^0{16}_\d{16}$/.test(token) ? Number(token.slice(prefix.length)) : NaN;
  if (Number.isSafeInteger(position)) return position;
  throw invalid(
    'The offset is not one of this server.',
    'Pass a Stream-Next-Offset as it was returned, -1 for the start, or now for the end.',
  );
}
