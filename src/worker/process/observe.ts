import type { AgentRegistry } from '../../agent/definition/registry.ts';
import type { Logger } from '../../base/log/logger.ts';
import { combine } from '../../runs/telemetry/combine.ts';
import { logRuns } from '../../runs/telemetry/log-runs.ts';
import type { MetricsOptions, WorkerMetrics } from '../../runs/telemetry/prometheus/open.ts';
import type { Telemetry } from '../../runs/telemetry/telemetry.ts';

interface Observing {
  agents: AgentRegistry;
  log: Logger;
  telemetry?: Telemetry | undefined;
}

/** Everything that observes the runs of a worker. Traces come first, because the log refers to them. */
export async function observe(
  { agents, log, telemetry }: Observing,
  measured: boolean | MetricsOptions,
  active: () => number,
): Promise<{ telemetry: Telemetry; metrics: WorkerMetrics | undefined }> {
  // Imported on demand, so that a worker without metrics does not load it.
  const prometheus = measured ? await import('../../runs/telemetry/prometheus/open.ts') : undefined;
  const metrics = await prometheus?.workerMetrics(agents, active, measured === true ? {} : measured || {});
  const observers = [...(telemetry ? [telemetry] : []), ...(metrics ? [metrics] : []), logRuns(log)];
  return { telemetry: combine(observers), metrics };
}
