import type { FleetStats } from '../database/store/worker/types.ts';
import type { ListedCircuit } from '../features/circuits/types.ts';
import type { LimitTotal } from '../runs/operations/limits/usage.ts';
import type { RequestCounter } from './request-counter.ts';

interface Metric {
  name: string;
  type: 'gauge' | 'counter';
  help: string;
  samples: { labels?: Record<string, string>; value: number }[];
}

/** Prometheus text, format 0.0.4. */
export function metricsText(
  stats: FleetStats,
  limits: readonly LimitTotal[],
  circuits: readonly ListedCircuit[],
  requests: ReturnType<RequestCounter['counts']>,
): string {
  const metrics: Metric[] = [
    {
      name: 'lanefold_runs',
      type: 'gauge',
      help: 'Runs that have not ended, by status.',
      samples: Object.entries(stats.runs).map(([status, value]) => ({ labels: { status }, value })),
    },
    {
      name: 'lanefold_oldest_queued_seconds',
      type: 'gauge',
      help: 'Time since the oldest queued run could have started or continued, for whatever it waits.',
      samples: [{ value: stats.oldestQueuedSeconds }],
    },
    {
      name: 'lanefold_oldest_ready_seconds',
      type: 'gauge',
      help: 'The same of the queued runs that wait for no limit, but only for a worker.',
      samples: [{ value: stats.oldestReadySeconds }],
    },
    {
      name: 'lanefold_oldest_due_delivery_seconds',
      type: 'gauge',
      help: 'Age of the oldest delivery of a webhook that no worker has sent.',
      samples: [{ value: stats.oldestDueDeliverySeconds }],
    },
    {
      name: 'lanefold_workers',
      type: 'gauge',
      help: 'Workers by state; dead workers are counted for an hour.',
      samples: Object.entries(stats.fleet).map(([state, value]) => ({ labels: { state }, value })),
    },
    {
      name: 'lanefold_queue_jobs',
      type: 'gauge',
      help: 'Jobs in the queue, by state, including finished jobs that are still kept.',
      samples: stats.jobs.flatMap(({ queue, counts }) =>
        Object.entries(counts).map(([state, value]) => ({ labels: { queue, state }, value })),
      ),
    },
    ...limitMetrics(limits),
    {
      name: 'lanefold_circuit_open',
      type: 'gauge',
      help: 'Whether calls of a model are held back: 1 while its circuit is open or half open.',
      samples: circuits.map(({ model, state }) => ({ labels: { model }, value: state === 'closed' ? 0 : 1 })),
    },
    {
      name: 'lanefold_http_requests_total',
      type: 'counter',
      help: 'HTTP responses of this process.',
      samples: requests,
    },
    {
      name: 'process_resident_memory_bytes',
      type: 'gauge',
      help: 'Resident memory of this process.',
      samples: [{ value: process.memoryUsage.rss() }],
    },
    {
      name: 'process_start_time_seconds',
      type: 'gauge',
      help: 'Start time of this process, in Unix seconds.',
      samples: [{ value: Math.round(Date.now() / 1000 - process.uptime()) }],
    },
  ];
  return metrics.map(toText).join('');
}

function limitMetrics(limits: readonly LimitTotal[]): Metric[] {
  const samples = (value: 'usedRatio' | 'waiting' | 'total') =>
    limits.flatMap(({ name, tenant, kind, ...counts }) => {
      const number = counts[value];
      return number === null
        ? []
        : [{ labels: { limit: name, kind, ...(tenant === null ? {} : { tenant }) }, value: number }];
    });
  return [
    {
      name: 'lanefold_limit_used_ratio',
      type: 'gauge',
      help: 'Part of a limit that is used, of the key that has used most, among at most 1,000 keys.',
      samples: samples('usedRatio'),
    },
    {
      name: 'lanefold_limit_waiting_runs',
      type: 'gauge',
      help: 'Runs that wait for a limit.',
      samples: samples('waiting'),
    },
    {
      name: 'lanefold_limit_lifetime_use',
      // a run may turn out to have used less
      type: 'gauge',
      help: 'Everything that was ever used of a limit of at most 1,000 keys: runs, model calls, tokens or US dollars.',
      samples: samples('total'),
    },
  ];
}

const toText = ({ name, type, help, samples }: Metric): string =>
  `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n` +
  samples.map(({ labels = {}, value }) => `${name}${toLabels(labels)} ${value}\n`).join('');

function toLabels(labels: Record<string, string>): string {
  const pairs = Object.entries(labels).map(
    ([key, value]) => `${key}="${value.replace(/[\\"\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`))}"`,
  );
  return pairs.length > 0 ? `{${pairs.join(',')}}` : '';
}
