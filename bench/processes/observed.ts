/** A process that executes long runs with one kind of telemetry or none, and reports their CPU time. */
import { context, metrics, ROOT_CONTEXT } from '@opentelemetry/api';
import { AggregationTemporality, InMemoryMetricExporter, MeterProvider } from '@opentelemetry/sdk-metrics';
import { PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, NodeTracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace-node';
import { createLanefold } from 'lanefold';
import { givenOptions, serve } from '../support/serve.ts';
import { agent, models, text400 } from '../workload.ts';

/**
 * `context`: only context propagation between callbacks, which any tracing library enables. `spans`: traces without it.
 */
export type Observed = 'nothing' | 'context' | 'spans' | 'traces' | 'metrics';

const { databaseUrl, observed } = givenOptions<{ databaseUrl: string; observed: Observed }>();

const toNowhere: SpanExporter = { export: (_, done) => done({ code: 0 }), shutdown: async () => {} };
const traced = observed === 'traces' || observed === 'spans';
if (traced) {
  const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(toNowhere)] });
  provider.register(observed === 'spans' ? { contextManager: null } : {});
  const exporter = new InMemoryMetricExporter(AggregationTemporality.DELTA);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
}
if (observed === 'context') {
  new NodeTracerProvider().register();
  context.with(ROOT_CONTEXT, () => {});
}

const lanefold = await createLanefold({
  databaseUrl,
  redisUrl: null,
  agents: [agent],
  models,
  telemetry: traced,
});
await lanefold.startWorker({ concurrency: 1, metrics: observed === 'metrics' });

/** Excludes kernel time: most of it sends data to PostgreSQL, and telemetry causes none. */
async function run({ steps }: { steps: number }): Promise<number> {
  const from = process.cpuUsage();
  const ended = await lanefold.runs.wait(
    await lanefold.runs.enqueue({ agent: 'bench', model: `bench:${steps - 1}`, input: text400 }),
  );
  if (ended.iteration !== steps) throw new Error(`the run made ${ended.iteration} model calls, not ${steps}`);
  return process.cpuUsage(from).user / 1_000;
}

serve({ run, stop: () => lanefold.close() });
