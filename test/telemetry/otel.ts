import { context, metrics, propagation, trace } from '@opentelemetry/api';
import { AggregationTemporality, InMemoryMetricExporter, MeterProvider } from '@opentelemetry/sdk-metrics';
import { PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-node';

/** The SDK an application would register, with what it exports kept in memory. Undo it with `stop`. */
export function startSdk() {
  const exporter = new InMemorySpanExporter();
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  provider.register();
  const measured = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: measured, exportIntervalMillis: 3_600_000 });
  const meterProvider = new MeterProvider({ readers: [reader] });
  metrics.setGlobalMeterProvider(meterProvider);
  return {
    /** The ended spans of a run, in the order of their ends. */
    spansOf: (runId: string): ReadableSpan[] =>
      exporter.getFinishedSpans().filter((span) => span.attributes['lanefold.run.id'] === runId),
    spansNamed: (name: string): ReadableSpan[] => exporter.getFinishedSpans().filter((span) => span.name === name),
    /** Everything that was exported, as text. */
    exported: (): string =>
      JSON.stringify(
        exporter.getFinishedSpans().map(({ name, attributes, events, status }) => [name, attributes, events, status]),
      ),
    async measurements() {
      await reader.forceFlush();
      return measured
        .getMetrics()
        .at(-1)!
        .scopeMetrics.flatMap((scope) => scope.metrics);
    },
    async stop() {
      for (const api of [trace, context, propagation, metrics]) api.disable();
      await provider.shutdown();
      await meterProvider.shutdown();
    },
  };
}

/** The sum of a counter of tokens over spans. */
export const sumOf = (spans: readonly ReadableSpan[], attribute: string): number =>
  spans.reduce((sum, span) => sum + Number(span.attributes[attribute] ?? 0), 0);
