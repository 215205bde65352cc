import type { Meter } from '@opentelemetry/api';
import { usageNames } from './attributes.ts';

/** The boundaries that the conventions recommend: each is twice the previous one. */
const doubling = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => Number((from * 2 ** i).toFixed(2)));

/** The metrics of the conventions. They go nowhere unless the application has registered a MeterProvider. */
export function createMeters(meter: Meter) {
  const seconds = (name: string, description: string, from: number, count: number) =>
    meter.createHistogram(name, {
      ...{ description, unit: 's' },
      advice: { explicitBucketBoundaries: doubling(from, count) },
    });
  const calls = (name: string, description: string, unit: string) =>
    meter.createHistogram(name, { description, unit, advice: { explicitBucketBoundaries: doubling(1, 8) } });
  const tokens = (name: string) =>
    meter.createCounter(`gen_ai.client.inference.usage.${name}`, {
      ...{ description: `Tokens of committed answers: ${name}.`, unit: '{token}' },
    });
  return {
    modelCall: seconds('gen_ai.client.inference.duration', 'Duration of a model call.', 0.01, 14),
    firstChunk: seconds(
      'gen_ai.client.inference.time_to_first_chunk',
      'Time to the first part of an answer.',
      0.01,
      14,
    ),
    toolCall: seconds('gen_ai.execute_tool.duration', 'Duration of a tool call with its attempts.', 0.01, 14),
    claim: seconds('gen_ai.invoke_agent.duration', 'Duration of one claim of a run.', 0.1, 13),
    modelCalls: calls('gen_ai.invoke_agent.inference_calls', 'Model calls of one claim of a run.', '{inference_call}'),
    toolCalls: calls('gen_ai.invoke_agent.tool_calls', 'Tool calls of one claim of a run.', '{tool_call}'),
    tokens: Object.entries(usageNames).map(([counter, name]) => ({ counter, instrument: tokens(name) })),
  };
}

export type Meters = ReturnType<typeof createMeters>;
