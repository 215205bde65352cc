/** A bucket of requests that refills over a minute. */
interface Bucket {
  left: number;
  at: number;
}

/**
 * Limits the request rate per key in this process. `take` returns 0 if the request may pass, otherwise the seconds
 * until one may. A key that makes no request for a minute is forgotten, so that memory is bounded by the keys in use.
 */
export class RequestRate {
  readonly #buckets = new Map<string, Bucket>();
  #sweptAt = 0;

  take(key: string, perMinute: number, nowMs = performance.now()): number {
    this.#forget(nowMs);
    const bucket = this.#buckets.get(key) ?? { left: perMinute, at: nowMs };
    bucket.left = Math.min(perMinute, bucket.left + ((nowMs - bucket.at) / 60_000) * perMinute);
    bucket.at = nowMs;
    this.#buckets.set(key, bucket);
    if (bucket.left < 1) return Math.ceil(((1 - bucket.left) / perMinute) * 60);
    bucket.left -= 1;
    return 0;
  }

  #forget(nowMs: number): void {
    if (nowMs - this.#sweptAt < 60_000) return;
    this.#sweptAt = nowMs;
    for (const [key, { at }] of this.#buckets) if (nowMs - at > 60_000) this.#buckets.delete(key);
  }
}
