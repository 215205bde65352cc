import { constants, monitorEventLoopDelay, PerformanceObserver, type PerformanceEntry } from 'node:perf_hooks';
import { quantile } from './median.ts';

/** What kept a process from its work, in milliseconds. */
export interface Pauses {
  /** How late timers of 1 ms fired. */
  loopDelay: { p50: number; p99: number; max: number };
  /** Pauses for garbage collection. */
  collections: { minor: Collections; major: Collections };
}

export interface Collections {
  count: number;
  total: number;
  p99: number;
  max: number;
}

/** Watches the event loop and the garbage collector of this process. The result stops, and returns what was seen. */
export function watchPauses(): () => Pauses {
  const loop = monitorEventLoopDelay({ resolution: 1 });
  const durations = { minor: [] as number[], major: [] as number[] };
  const observer = new PerformanceObserver((list) => record(list.getEntries()));
  const record = (entries: PerformanceEntry[]) => {
    for (const entry of entries) {
      const { kind } = (entry as PerformanceEntry & { detail: { kind: number } }).detail;
      durations[kind === constants.NODE_PERFORMANCE_GC_MINOR ? 'minor' : 'major'].push(entry.duration);
    }
  };
  observer.observe({ entryTypes: ['gc'] });
  loop.enable();
  return () => {
    loop.disable();
    record(observer.takeRecords());
    observer.disconnect();
    // the histogram counts from one firing to the next, in nanoseconds
    const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - 1);
    return {
      loopDelay: { p50: late(loop.percentile(50)), p99: late(loop.percentile(99)), max: late(loop.max) },
      collections: { minor: summary(durations.minor), major: summary(durations.major) },
    };
  };
}

const summary = (durations: number[]): Collections => ({
  count: durations.length,
  total: durations.reduce((sum, duration) => sum + duration, 0),
  p99: durations.length === 0 ? 0 : quantile(durations, 0.99),
  max: Math.max(0, ...durations),
});
