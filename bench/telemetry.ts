import { context, metrics, propagation, trace } from '@opentelemetry/api';
import { AggregationTemporality, InMemoryMetricExporter, MeterProvider } from '@opentelemetry/sdk-metrics';
import { PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, NodeTracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace-node';
import { createLanefold } from 'lanefold';
import type { Servers } from './setup.ts';
import { median } from './support/median.ts';
import { agent, models, text400 } from './workload.ts';

const steps = 100;
const rounds = 20;
/** Before V8 has optimized the code, a step costs a fifth more. */
const warmUps = 10;

/** Without the time in the kernel: most of it sends to PostgreSQL, varies by more than telemetry costs, and telemetry has none. */
const cpuMs = () => process.cpuUsage().user / 1000;

const toNowhere: SpanExporter = { export: (_, done) => done({ code: 0 }), shutdown: async () => {} };

/** Measures the user CPU time of this process per model step with traces and metrics on, less that of the same run without. */
export async function telemetryCost(servers: Servers): Promise<void> {
  new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(toNowhere)] }).register();
  const exporter = new InMemoryMetricExporter(AggregationTemporality.DELTA);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));

  const contestants = [
    { name: 'off', ...(await start(servers, false, false)) },
    { name: 'traces', ...(await start(servers, true, false)) },
    { name: 'metrics', ...(await start(servers, false, true)) },
  ];
  const spent = new Map<string, number[]>(contestants.map(({ name }) => [name, []]));
  for (let round = -warmUps; round < rounds; round++) {
    // another one first in every round: what else the machine does hits all of them
    for (let i = 0; i < contestants.length; i++) {
      const { name, run } = contestants[(((round + i) % 3) + 3) % 3]!;
      const ms = await run();
      if (round >= 0) spent.get(name)!.push(ms / steps);
    }
  }
  const off = spent.get('off')!;
  const extra = (name: string) => median(spent.get(name)!.map((ms, round) => ms - off[round]!)).toFixed(3);
  console.log(
    `\nUser CPU per model step with one tool call (median of ${rounds} rounds of ${steps} steps): ${median(off).toFixed(3)} ms without ` +
      `telemetry, ${extra('traces')} ms more with traces, ${extra('metrics')} ms more with metrics (goal 0.1)`,
  );
  for (const { close } of contestants) await close();
  for (const api of [trace, context, propagation, metrics]) api.disable();
}

async function start(servers: Servers, telemetry: boolean, measured: boolean) {
  const databaseUrl = await servers.database();
  const lanefold = await createLanefold({ databaseUrl, redisUrl: null, agents: [agent], models, telemetry });
  await lanefold.startWorker({ concurrency: 1, metrics: measured });
  return {
    async run(): Promise<number> {
      const from = cpuMs();
      const ended = await lanefold.runs.wait(
        await lanefold.runs.enqueue({ agent: 'bench', model: `bench:${steps - 1}`, input: text400 }),
      );
      if (ended.iteration !== steps) throw new Error(`the run made ${ended.iteration} model calls, not ${steps}`);
      return cpuMs() - from;
    },
    close: () => lanefold.close(),
  };
}
