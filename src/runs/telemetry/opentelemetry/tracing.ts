import type { Tracer, Attributes, Context, Counter, Histogram, Meter } from '@opentelemetry/api';
import type { Redactor } from '../../../base/redaction/sensitive-keys.ts';
import { after, type Timer } from '../../../base/common/timer.ts';
import { usageNames } from './attributes.ts';

/** The state that all spans of a process share. */
export interface Tracing {
  api: typeof import('@opentelemetry/api');
  tracer: Tracer;
  meters: Meters;
  batch: Batch;
  /** Undefined: content is not recorded. */
  content: Redactor | undefined;
}

/** The longest that work waits, in ms: less than the SDK's own batches of spans and metrics wait by default. */
const flushAfterMs = 1_000;
/** Limits the time of one flush to a few milliseconds. */
const atMost = 500;

/**
 * Collects work for the SDK, which takes several times as much CPU when it is done bit by bit, between other work:
 * ending spans and recording measurements. Counts are added up first.
 */
export class Batch {
  #waiting: (() => void)[] = [];
  /** By counter, then by attributes: callers use the same object for the same attributes. */
  readonly #added = new Map<Counter, Map<Attributes, number>>();
  #timer: Timer | undefined;

  later(work: () => void): void {
    this.#waiting.push(work);
    if (this.#waiting.length >= atMost) this.flush();
    else this.#flushSoon();
  }

  record(histogram: Histogram, value: number, attributes: Attributes, context: Context): void {
    this.later(() => histogram.record(value, attributes, context));
  }

  add(counter: Counter, value: number, attributes: Attributes): void {
    let sums = this.#added.get(counter);
    if (!sums) this.#added.set(counter, (sums = new Map<Attributes, number>()));
    sums.set(attributes, (sums.get(attributes) ?? 0) + value);
    this.#flushSoon();
  }

  /** Call at the end of a claim, so that spans and metrics read after a run are complete. */
  flush(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const work of waiting) work();
    for (const [counter, sums] of this.#added) {
      for (const [attributes, sum] of sums) counter.add(sum, attributes);
    }
    this.#added.clear();
  }

  #flushSoon(): void {
    this.#timer ??= after(flushAfterMs, () => this.flush(), { ref: false });
  }
}

/** The boundaries that the conventions recommend: each is twice the previous one. */
const doubling = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => Number((from * 2 ** i).toFixed(2)));

/** The metrics of the conventions. They go nowhere unless the application has registered a MeterProvider. */
export function createMeters(meter: Meter) {
  const seconds = (name: string, description: string, from: number, count: number) =>
    meter.createHistogram(name, {
      description,
      unit: 's',
      advice: { explicitBucketBoundaries: doubling(from, count) },
    });
  const calls = (name: string, description: string, unit: string) =>
    meter.createHistogram(name, { description, unit, advice: { explicitBucketBoundaries: doubling(1, 8) } });
  const tokens = (name: string) =>
    meter.createCounter(`gen_ai.client.inference.usage.${name}`, {
      description: `Tokens of committed answers: ${name}.`,
      unit: '{token}',
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

type Meters = ReturnType<typeof createMeters>;
