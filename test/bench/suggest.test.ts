import { describe, expect, test } from 'vitest';
import type { Level } from '../../src/ops/bench/report.ts';
import { suggest } from '../../src/ops/bench/suggest.ts';

const percentiles = (p50: number) => ({ p50, p95: p50, p99: p50 });

const level = (concurrency: number, given: Partial<Level> = {}): Level => ({
  concurrency,
  runs: 1_000,
  seconds: 10,
  runs_per_second: 20 * concurrency,
  first_model_call_ms: percentiles(5),
  per_run: { cpu_ms: 2, postgres_cpu_ms: 3, redis_cpu_ms: null, wal_bytes: 12_000, commits: 5, disk_bytes: 10_000 },
  connections: { open: 20, busy: 3 },
  other_commits_per_second: 0,
  ...given,
});

const figures = {
  queue: 'postgres' as const,
  machine: { cpus: 4, cpu: 'test', node: 'v20' },
  postgres: {
    version: '18',
    fsync: 'on',
    synchronous_commit: 'on',
    shared_buffers: '8GB',
    max_wal_size: '4GB',
    max_connections: 100,
    open_connections: 10,
    round_trip_ms: percentiles(0.2),
    commit_ms: percentiles(0.5),
  },
  levels: [level(1), level(10)],
};

type Given = Partial<typeof figures>;
const about = (given: Given = {}) => new Map(suggest({ ...figures, ...given }).map((found) => [found.about, found]));
const server = (given: Partial<(typeof figures)['postgres']>): Given => ({
  postgres: { ...figures.postgres, ...given },
});

describe('suggestions', () => {
  test('of a fast and safe server concern how to use it', () => {
    expect([...about().keys()]).toEqual(['concurrency', 'pool', 'connections', 'queue']);
  });

  test('the worker takes what half of a core or the server executes, whichever is less', () => {
    // half of a core: 250 runs/s; the server: 200 or 20
    expect(about().get('concurrency')!.advice).toContain('--concurrency 1000');
    expect(about({ levels: [level(1)] }).get('concurrency')!.advice).toContain('--concurrency 200');
  });

  test('a pool whose connections were all busy should be larger', () => {
    expect(about().get('pool')!.advice).toContain('the default');
    const busy = [level(50, { connections: { open: 20, busy: 9 } })];
    expect(about({ levels: busy }).get('pool')!.advice).toBe('poolSize: 20');
  });

  test('processes share the connections that are free, but for a fifth', () => {
    expect(about().get('connections')!.advice).toContain('up to 3 processes');
    expect(about(server({ open_connections: 70 })).get('connections')!.advice).toContain('PgBouncer');
  });

  test('a slow disk, a distant server, missing durability and little memory are named', () => {
    expect(about(server({ commit_ms: percentiles(10) })).get('disk')!.reason).toContain('9.80 ms');
    expect(about(server({ round_trip_ms: percentiles(8), commit_ms: percentiles(9) })).has('network')).toBe(true);
    expect(about(server({ synchronous_commit: 'off' })).get('durability')!.advice).toBe('turn on synchronous_commit');
    expect(about(server({ shared_buffers: '128MB' })).has('memory')).toBe(true);
  });
});
