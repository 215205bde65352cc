import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { LanefoldError } from 'lanefold';
import { logErrors } from '../../src/server/log-errors.ts';
import { useFakeClock, useRealClock } from '../support/fake-clock.ts';

const busy = new LanefoldError('server_busy', 'The server is busy: it serves 1 streams.');

describe('refusals in the log', () => {
  let lines: { facts: Record<string, unknown>; message: string }[];
  let report: ReturnType<typeof logErrors>;
  const refuse = (actor?: string) => report(busy, { method: 'GET', path: '/v1/x', ...(actor ? { actor } : {}) });
  beforeEach(() => {
    useFakeClock();
    lines = [];
    const error = (facts: Record<string, unknown>, message: string) => void lines.push({ facts, message });
    report = logErrors({ error, warn: error, info: error, debug: error });
  });
  afterEach(useRealClock);

  test('are one line at first, and one with a count for each interval, by key', () => {
    for (let i = 0; i < 100; i++) refuse('key:a');
    refuse('key:b');
    refuse();
    expect(lines.map(({ facts }) => facts['actor'])).toEqual(['key:a', 'key:b', undefined]);
    vi.advanceTimersByTime(10_000);
    expect(lines).toHaveLength(4);
    expect(lines[3]).toMatchObject({ facts: { actor: 'key:a', count: 99 }, message: /99 more requests from key:a/ });
    // an interval without any ends it
    vi.advanceTimersByTime(60_000);
    expect(lines).toHaveLength(4);
    refuse('key:a');
    expect(lines).toHaveLength(5);
  });

  test('stay one line in each interval while they continue', () => {
    for (let s = 0; s < 100; s++) {
      refuse('key:a');
      vi.advanceTimersByTime(1_000);
    }
    expect(lines).toHaveLength(11);
    const counted = lines.map(({ facts }) => (facts['count'] as number | undefined) ?? 1);
    expect(counted.reduce((sum, count) => sum + count)).toBe(100);
  });

  test('do not hide other errors', () => {
    for (let i = 0; i < 3; i++) report(new Error('broken'), { method: 'GET', path: '/v1/x', actor: 'key:a' });
    expect(lines).toHaveLength(3);
  });
});
