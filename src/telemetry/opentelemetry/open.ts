import { LanefoldError } from '../../errors.ts';
import type { Redactor } from '../../redaction/sensitive-keys.ts';
import type { Telemetry } from '../telemetry.ts';
import { formatTraceparent } from '../traceparent.ts';
import { Batch } from './batch.ts';
import { createMeters } from './meters.ts';
import { RunSpans } from './run-spans.ts';
import type { Tracing } from './tracing.ts';

export interface TelemetryOptions {
  /**
   * Record the content of calls: messages, tool definitions, arguments and results, with `redactKeys` redacted.
   * Default: true if `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` is `true`.
   */
  content?: boolean;
}

export interface OpenTelemetry extends Telemetry {
  /** W3C `traceparent` of the active span. */
  activeTraceparent(): string | undefined;
}

const packageName = '@opentelemetry/api';

/**
 * Telemetry through OpenTelemetry's API, which is loaded only here. The SDK that the application registers decides
 * where it goes; without an SDK it is dropped at almost no cost.
 *
 * @throws LanefoldError `telemetry_unavailable`
 */
export async function openTelemetry({ content }: TelemetryOptions, redactor: Redactor): Promise<OpenTelemetry> {
  const api = await import('@opentelemetry/api').catch((cause: unknown) => {
    throw new LanefoldError('telemetry_unavailable', `Telemetry is on, but ${packageName} cannot be loaded.`, {
      hint: `Install ${packageName} and the SDK of OpenTelemetry, or turn telemetry off.`,
      cause,
    });
  });
  const captured = content ?? process.env['OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT'] === 'true';
  const tracing: Tracing = {
    api,
    tracer: api.trace.getTracer('lanefold'),
    meters: createMeters(api.metrics.getMeter('lanefold')),
    batch: new Batch(),
    content: captured ? redactor : undefined,
  };
  return {
    runClaimed: (run) => new RunSpans(tracing, run),
    runRefused: () => {},
    activeTraceparent() {
      const active = api.trace.getSpanContext(api.context.active());
      return active && api.isSpanContextValid(active) ? formatTraceparent(active) : undefined;
    },
  };
}
