import { metrics, ROOT_CONTEXT, type Attributes } from '@opentelemetry/api';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createKeyRedactor } from '../../src/base/redaction/sensitive-keys.ts';
import { openTelemetry } from '../../src/runs/telemetry/opentelemetry/open.ts';
import { Batch } from '../../src/runs/telemetry/opentelemetry/tracing.ts';
import { startSdk } from './otel.ts';

class Reader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] }));
afterEach(() => {
  vi.useRealTimers();
  metrics.disable();
});

test('measurements of a claim that continues reach the SDK within a second, counts added up', async () => {
  const reader = new Reader();
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  const meter = metrics.getMeter('test');
  const [durations, tokens] = [meter.createHistogram('durations'), meter.createCounter('tokens')];
  const collected = async () => {
    const { resourceMetrics } = await reader.collect();
    return resourceMetrics.scopeMetrics
      .flatMap((scope) => scope.metrics)
      .map(({ descriptor, dataPoints }) => [
        descriptor.name,
        dataPoints.map(({ attributes, value }) => [
          attributes['model'],
          typeof value === 'object' ? (value as { sum: number }).sum : value,
        ]),
      ]);
  };
  const [one, two]: [Attributes, Attributes] = [{ model: 'one' }, { model: 'two' }];

  const batch = new Batch();
  for (const seconds of [1, 2]) batch.record(durations, seconds, one, ROOT_CONTEXT);
  for (const attributes of [one, two, one]) batch.add(tokens, 10, attributes);
  expect(await collected()).toEqual([]);
  vi.advanceTimersByTime(1_000);

  const expected = [
    ['durations', [['one', 3]]],
    [
      'tokens',
      [
        ['one', 20],
        ['two', 10],
      ],
    ],
  ];
  expect(await collected()).toEqual(expected);
  // nothing is recorded twice
  vi.advanceTimersByTime(5_000);
  expect(await collected()).toEqual(expected);
});

test('spans of a claim that continues end within a second, with the duration of their calls', async () => {
  const sdk = startSdk();
  const { runClaimed } = await openTelemetry({}, createKeyRedactor());
  const ids = { threadId: 't', runId: 'long', agent: 'seer', model: 'fake', contextRef: 'default' };
  const claim = runClaimed({ ...ids, fresh: true, step: 0, traceparent: null, queuedMs: 0 });
  const call = { id: 'c0', name: 'look', arguments: {} };
  const observed = { call, description: undefined, round: 1, index: 0, iteration: 1, lostAttempts: 0 };
  await claim.toolCall(observed, async () => {
    vi.advanceTimersByTime(40);
    return { status: 'ok', content: '', attempts: 1, durationMs: 40 };
  });
  expect(sdk.spansOf('long')).toEqual([]);
  vi.advanceTimersByTime(1_000);
  expect(sdk.spansOf('long').map(({ name, duration }) => [name, duration])).toEqual([
    ['execute_tool look', [0, 40_000_000]],
  ]);
  vi.useRealTimers();
  await sdk.stop();
});
