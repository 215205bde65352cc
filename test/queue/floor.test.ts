import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Floor, lagMs, maxPauseMs, Looks } from '../../src/runs/queue/taking/known-queue.ts';

describe('the floor', () => {
  const all = Infinity;

  test('is raised by a scan that begins a while after another one, and finds nothing below', () => {
    let now = 0;
    const floor = new Floor(() => now);
    floor.raise({ startedAt: 0, clearTo: all, lastSeq: 70 });
    now = lagMs - 1;
    floor.raise({ startedAt: now, clearTo: all, lastSeq: 90 });
    expect(floor.seq).toBe(0);
    floor.raise({ startedAt: lagMs, clearTo: all, lastSeq: 95 });
    expect(floor.seq).toBe(70);
  });

  test('stays where a scan takes a job from below what was proposed', () => {
    const floor = new Floor(() => 0);
    floor.raise({ startedAt: 0, clearTo: all, lastSeq: 70 });
    floor.raise({ startedAt: lagMs, clearTo: 60, lastSeq: 95 });
    expect(floor.seq).toBe(0);
    floor.raise({ startedAt: lagMs, clearTo: 80, lastSeq: 95 });
    expect(floor.seq).toBe(70);
  });

  test('is never above a job that a scan has left', () => {
    let now = 0;
    const floor = new Floor(() => now);
    for (const clearTo of [10, 20, 30]) {
      floor.raise({ startedAt: now, clearTo, lastSeq: 1_000 });
      now += lagMs;
      expect(floor.seq).toBeLessThanOrEqual(clearTo);
    }
    expect(floor.seq).toBe(20);
  });

  test('does not count jobs taken from the front, nor those with a priority', () => {
    const floor = new Floor(() => 0);
    floor.raise({ startedAt: 0, clearTo: 0, lastSeq: 70 });
    floor.raise({ startedAt: lagMs, clearTo: 0, lastSeq: 70 });
    expect(floor.seq).toBe(0);
    expect([0, 1].map((priority) => floor.leadsTo({ priority, seq: 5 }))).toEqual([true, false]);
    expect(floor.leadsTo({ priority: 0, seq: -5 })).toBe(false);
  });

  test('begins anew if numbers are given again, as after a failover', () => {
    let now = 0;
    const floor = new Floor(() => now);
    floor.raise({ startedAt: 0, clearTo: all, lastSeq: 70 });
    now = 2 * lagMs;
    floor.raise({ startedAt: lagMs, clearTo: all, lastSeq: 90 });
    // sent before the floor was raised
    floor.raise({ startedAt: now - 1, clearTo: all, lastSeq: 60 });
    expect(floor.seq).toBe(70);
    floor.raise({ startedAt: now + 1, clearTo: all, lastSeq: 60 });
    expect(floor.seq).toBe(0);
    floor.raise({ startedAt: now + lagMs, clearTo: all, lastSeq: 65 });
    expect(floor.seq).toBe(60);
  });

  test('only rises, and a job that became visible within the lag is never below it before a scan saw it', () => {
    const scan = fc.record({ after: fc.nat(2 * lagMs), jobs: fc.nat(5), lateMs: fc.nat(lagMs - 1) });
    fc.assert(
      fc.property(fc.array(scan, { maxLength: 30 }), (scans) => {
        let [now, last] = [0, 0];
        const floor = new Floor(() => now);
        const unseen = new Map<number, number>();
        for (const { after, jobs, lateMs } of scans) {
          now += after;
          for (let n = 0; n < jobs; n++) unseen.set(++last, now + (n % 2 ? lateMs : 0));
          const before = floor.seq;
          // takes one job, as a worker does
          const found = [...unseen].filter(([seq, from]) => from <= now && seq > before).map(([seq]) => seq);
          if (found.length > 0) unseen.delete(found[0]!);
          floor.raise({ startedAt: now, clearTo: found[0] ?? Infinity, lastSeq: last });
          expect(floor.seq).toBeGreaterThanOrEqual(before);
          for (const seq of unseen.keys()) expect(seq).toBeGreaterThan(floor.seq);
        }
      }),
    );
  });
});

describe('looks at a whole queue', () => {
  const started = () => {
    const clock = { now: 0 };
    const looks = new Looks(() => clock.now);
    const look = (tookMs: number, hasMore = false) =>
      looks.take(
        async () => void (clock.now += tookMs),
        () => hasMore,
      );
    return { clock, looks, look };
  };

  test('pause 20 times as long as the last one took', async () => {
    const { clock, looks, look } = started();
    expect(looks.begin()).toBe(true);
    await look(7);
    expect(looks.dueInMs).toBe(140);
    clock.now += 139;
    expect(looks.begin()).toBe(false);
    clock.now += 1;
    expect(looks.begin()).toBe(true);
  });

  test('pause ten seconds at most', async () => {
    const { looks, look } = started();
    await look(60_000);
    expect(looks.dueInMs).toBe(maxPauseMs);
  });

  test('are taken one at a time, and again at once as long as they find more', async () => {
    const { looks, look } = started();
    expect([looks.begin(), looks.begin()]).toEqual([true, false]);
    await look(5, true);
    expect([looks.begin(), looks.begin(), looks.dueInMs]).toEqual([true, true, 0]);
    await look(5, false);
    expect(looks.begin()).toBe(false);
  });

  test('are still due after one that was given up, and follow the usual pause after one that failed', async () => {
    const { clock, looks } = started();
    looks.begin();
    looks.giveUp();
    expect(looks.begin()).toBe(true);
    const failing = looks.take(
      async () => {
        clock.now += 1;
        throw new Error('lost');
      },
      () => true,
    );
    await expect(failing).rejects.toThrow('lost');
    expect(looks.dueInMs).toBe(20);
  });
});
