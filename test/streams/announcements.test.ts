import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ThreadRelay } from '../../src/runs/queue/relay.ts';
import { toAnnouncements } from '../../src/runs/streams/deltas.ts';
import { LiveCalls } from '../../src/runs/streams/publish-deltas.ts';
import { until } from '../support/until.ts';

/** A relay that keeps what is published. */
function recorder() {
  const sent: { text?: [number, string] }[] = [];
  const relay = { publish: async (_: string, message: object) => void sent.push(message) } as unknown as ThreadRelay;
  return { sent, relay };
}

test('a flood of announcements does not send a text over and over', async () => {
  const { sent, relay } = recorder();
  const live = new LiveCalls(relay);
  const end = live.open('t', 'r', 'c', () => ({ text: 'x'.repeat(100_000), thinking: '' }));
  const announcement = toAnnouncements('+', ['t']);
  const from = performance.now();
  let floods = 0;
  await until('half a second has passed', () => {
    for (let i = 0; i < 100; i++) for (const payload of announcement) live.announced(payload);
    floods += 1;
    return performance.now() - from > 600;
  });
  end();
  live.close();
  expect(floods).toBeGreaterThan(3);
  expect(sent.length).toBeGreaterThan(0);
  expect(sent.length).toBeLessThanOrEqual(4);
});

describe('what readers are told of a thread', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const withReader = () => {
    const { sent, relay } = recorder();
    const live = new LiveCalls(relay);
    for (const payload of toAnnouncements('+', ['t'])) live.announced(payload);
    return { sent, live, end: live.open('t', 'r', 'c', () => ({ text: 'It is fine.', thinking: '' })) };
  };

  test('steps in quick succession are one message, and the end of the run is told at once', async () => {
    const { sent, live } = withReader();
    for (let step = 0; step < 3; step++) live.committed('t');
    expect(sent).toEqual([]);
    await vi.advanceTimersByTimeAsync(10);
    expect(sent).toEqual([{}]);
    live.committed('t');
    live.committed('t', { last: true });
    expect(sent).toEqual([{}, {}]);
    await vi.advanceTimersByTimeAsync(50);
    expect(sent).toEqual([{}, {}]);
    live.close();
  });

  test('an answer that is committed soon needs no last delta', async () => {
    const { sent, live, end } = withReader();
    end();
    live.committed('t');
    await vi.advanceTimersByTimeAsync(50);
    expect(sent).toEqual([{}]);
    live.close();
  });

  test('an answer whose commit takes long is shown before the commit', async () => {
    const { sent, live, end } = withReader();
    end();
    await vi.advanceTimersByTimeAsync(10);
    expect(sent).toMatchObject([{ text: [0, 'It is fine.'] }]);
    live.committed('t');
    await vi.advanceTimersByTimeAsync(10);
    expect(sent).toHaveLength(2);
    live.close();
  });
});

test('announced threads are bounded', () => {
  const live = new LiveCalls(recorder().relay);
  for (let i = 0; i < 20_000; i++) live.announced(`+t${i}`);
  expect(live.announcedThreads).toBe(10_000);
  live.close();
});
