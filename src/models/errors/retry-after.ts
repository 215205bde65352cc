import { bounded } from '../../common/retry-after.ts';

/**
 * The wait Google asks for in the body of an error: a `RetryInfo` in `error.details[]`, whose `retryDelay` is a
 * protobuf duration, `"36s"` or `{seconds, nanos}` (https://google.aip.dev/193). At most an hour; undefined without one.
 */
export function retryDelayMs(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined;
  const info = details.find((detail: { '@type'?: unknown } | null) =>
    String(detail?.['@type']).endsWith('google.rpc.RetryInfo'),
  ) as { retryDelay?: unknown } | undefined;
  const delay = info?.retryDelay;
  if (typeof delay === 'string') return /^\d+(\.\d+)?s$/.test(delay) ? bounded(parseFloat(delay) * 1000) : undefined;
  const { seconds, nanos } = (delay ?? {}) as { seconds?: unknown; nanos?: unknown };
  const ms = Number(seconds ?? 0) * 1000 + Number(nanos ?? 0) / 1e6;
  return Number.isFinite(ms) && ms > 0 ? bounded(ms) : undefined;
}
