const header = (headers: Record<string, string>, name: string): string | undefined =>
  headers[name] ?? Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];

/**
 * The wait a provider asks for in `retry-after-ms` or `retry-after` (seconds or an HTTP date), in milliseconds from
 * `now`. Undefined without such a header; never negative.
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

/**
 * The wait Google asks for in the body of an error: a `RetryInfo` in `error.details[]`, whose `retryDelay` is a
 * protobuf duration, `"36s"` or `{seconds, nanos}` (https://google.aip.dev/193). Undefined without one.
 */
export function retryDelayMs(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined;
  const info = details.find((detail: { '@type'?: unknown } | null) =>
    String(detail?.['@type']).endsWith('google.rpc.RetryInfo'),
  ) as { retryDelay?: unknown } | undefined;
  const delay = info?.retryDelay;
  if (typeof delay === 'string') return /^\d+(\.\d+)?s$/.test(delay) ? Math.ceil(parseFloat(delay) * 1000) : undefined;
  const { seconds, nanos } = (delay ?? {}) as { seconds?: unknown; nanos?: unknown };
  const ms = Number(seconds ?? 0) * 1000 + Number(nanos ?? 0) / 1e6;
  return Number.isFinite(ms) && ms > 0 ? Math.ceil(ms) : undefined;
}
