/** No server is waited for longer: an hour, in ms. A time further away is more likely a fault of its clock. */
export const maxRetryAfterMs = 3_600_000;

/** Proxies join several headers of the same name with commas. */
const numbers = /^\s*\d+(?:\.\d+)?\s*(?:,\s*\d+(?:\.\d+)?\s*)*$/;
/** The three forms of HTTP, and the form of RFC 3339. */
const dates = [
  /(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?, \d{1,2}[ -][A-Z][a-z]{2}[ -]\d{2,4} \d{2}:\d{2}:\d{2} GMT/g,
  /(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}/g,
  /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})/g,
];

/**
 * The wait that a server asks for in `retry-after-ms` or `retry-after` (seconds or a date), in ms, at most an hour; the
 * longest if it names several. A date counts from the `date` of the same answer, because the clock of a server may be
 * wrong, and so may ours. Undefined without such a header, or if it is neither a number nor a date.
 *
 * @param header returns a header by its name in lower case
 * @param now in ms, for an answer without `date`
 */
export function retryAfterMs(header: (name: string) => string | null | undefined, now: number): number | undefined {
  const ms = largest(header('retry-after-ms'));
  if (ms !== undefined) return bounded(ms);
  const value = header('retry-after') ?? '';
  const seconds = largest(value);
  if (seconds !== undefined) return bounded(seconds * 1_000);
  const times = timesIn(value);
  if (times.length === 0) return undefined;
  const [from = now] = timesIn(header('date') ?? '');
  return bounded(Math.max(...times) - from);
}

/** A wait in whole ms, at most an hour. */
export const bounded = (ms: number): number => Math.min(Math.max(0, Math.ceil(ms)), maxRetryAfterMs);

const largest = (text: string | null | undefined): number | undefined =>
  text && numbers.test(text) ? Math.max(...text.split(',').map(Number)) : undefined;

function timesIn(text: string): number[] {
  const found = dates.flatMap((form) => text.match(form) ?? []);
  // the second form of HTTP names no time zone, and means GMT
  return found
    .map((date) => Date.parse(/(?:GMT|Z|[+-]\d{2}:\d{2})$/.test(date) ? date : `${date} GMT`))
    .filter(Number.isFinite);
}

/** Node's codes for a connection that could not be opened or broke, in any protocol. */
export const networkErrorCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EPIPE',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
