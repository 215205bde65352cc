const header = (headers: Record<string, string>, name: string): string | undefined =>
  headers[name] ?? Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];

/**
 * How long a provider asks to wait, in milliseconds, from `retry-after-ms` or `retry-after` (seconds or an HTTP date,
 * measured from `now`, milliseconds since 1970). Undefined when it does not say; never negative.
 */
export function retryAfterMs(headers: Record<string, string> | undefined, now: number): number | undefined {
  if (!headers) return undefined;
  const exact = Number.parseFloat(header(headers, 'retry-after-ms') ?? '');
  if (Number.isFinite(exact)) return Math.max(0, Math.ceil(exact));
  const value = header(headers, 'retry-after')?.trim();
  if (!value) return undefined;
  const ms = /^[\d.]+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isFinite(ms) ? Math.max(0, Math.ceil(ms)) : undefined;
}
