import type { Attributes, Context, Span } from '@opentelemetry/api';
import type { ModelTurn } from '../../../agent/context/message.ts';
import type { StepDraft } from '../../../agent/strategies/machine.ts';
import type { ToolOutcome } from '../../../agent/tools/outcome.ts';
import {
  RunTelemetry,
  type ClaimedRun,
  type Interruption,
  type ObservedModelCall,
  type ObservedToolCall,
  type Telemetry,
  parseTraceparent,
  formatTraceparent,
} from '../telemetry.ts';
import { ChatSpan, markLostCall } from './chat-span.ts';
import { type Tracing, Batch, createMeters } from './tracing.ts';
import { ToolSpan } from './tool-span.ts';
import { LanefoldError } from '../../../base/errors.ts';
import type { Redactor } from '../../../base/redaction/sensitive-keys.ts';

/** One claim of a run as a span that contains its model and tool calls. */
class RunSpans extends RunTelemetry {
  override readonly traceId: string | undefined;
  readonly #startedAt = performance.now();
  readonly #span: Span;
  readonly #context: Context;
  /** Model answers whose step is not committed yet; they count only once it is. */
  #answered: ChatSpan[] = [];
  #modelCalls = 0;
  #toolCalls = 0;

  constructor(
    private readonly tracing: Tracing,
    private readonly run: ClaimedRun,
  ) {
    super();
    const { span, context } = startClaimSpan(tracing, run);
    this.#span = span;
    this.#context = context;
    const own = span.spanContext();
    this.traceId = tracing.api.isSpanContextValid(own) ? own.traceId : undefined;
  }

  override during<T>(work: () => Promise<T>): Promise<T> {
    return this.tracing.api.context.with(this.#context, work);
  }

  override modelCall<T extends { turn: ModelTurn }>(
    call: ObservedModelCall,
    work: (onFirstPart: () => void) => Promise<T>,
  ): Promise<T> {
    this.#modelCalls += 1;
    const chat = new ChatSpan(this.tracing, this.#context, this.run, call);
    // Not `await`: while a context manager is registered, Node tracks every promise, and this makes one instead of two.
    return chat.during(work).then(
      (result) => {
        chat.answered(result.turn);
        this.#answered.push(chat);
        return result;
      },
      (error: unknown) => chat.failed(error),
    );
  }

  override toolCall(call: ObservedToolCall, work: () => Promise<ToolOutcome>): Promise<ToolOutcome> {
    this.#toolCalls += 1;
    const tool = new ToolSpan(this.tracing, this.#context, this.run, call);
    return tool.during(work).then(
      (outcome) => tool.ended(outcome),
      (error: unknown) => tool.failed(error),
    );
  }

  override stepCommitted({ events = [] }: StepDraft): void {
    // when several calls run at once, later steps store the others
    this.#settle(true, ({ callId, repair }) => repair === true || events.some((event) => stores(event, callId)));
    for (const { kind, data } of events) {
      if (kind === 'llm_lost') markLostCall(this.tracing, this.#context, this.run, data);
    }
  }

  override ended({ status, iteration, limit, error }: Parameters<RunTelemetry['ended']>[0]): void {
    this.#settle(true);
    this.#span.setAttributes({ 'lanefold.run.status': status, 'lanefold.run.iterations': iteration });
    if (limit !== undefined) this.#span.setAttribute('lanefold.run.limit', limit);
    this.#end(status === 'failed' ? (error?.type ?? 'failed') : undefined);
  }

  override interrupted(reason: Interruption): void {
    this.#settle(false);
    this.#span.setAttribute('lanefold.claim.interrupted', reason);
    this.#end(reason === 'released' ? undefined : reason);
  }

  #settle(committed: boolean, which: (call: ObservedModelCall) => boolean = () => true): void {
    const open = this.#answered;
    if (open.length === 0) return;
    this.#answered = [];
    for (const answered of open) {
      if (which(answered.call)) answered.settle(committed);
      else this.#answered.push(answered);
    }
  }

  #end(errorType: string | undefined): void {
    const { api, meters, batch } = this.tracing;
    const agent: Attributes = { 'gen_ai.agent.name': this.run.agent };
    const attributes = { ...agent };
    if (errorType !== undefined) {
      attributes['error.type'] = errorType;
      this.#span.setAttribute('error.type', errorType).setStatus({ code: api.SpanStatusCode.ERROR });
    }
    batch.record(meters.claim, (performance.now() - this.#startedAt) / 1000, attributes, this.#context);
    batch.record(meters.modelCalls, this.#modelCalls, agent, this.#context);
    batch.record(meters.toolCalls, this.#toolCalls, agent, this.#context);
    batch.flush();
    this.#span.end();
  }
}

type StepEvent = NonNullable<StepDraft['events']>[number];
const stores = ({ kind, data }: StepEvent, callId: string) => kind === 'llm_completed' && data?.['call_id'] === callId;

/**
 * Starts the span of a claim. The first claim continues the trace of the process that enqueued the run. Each later one
 * starts a new trace linked to it; otherwise a run that waits a week for approval would be one trace of a week.
 */
function startClaimSpan({ api, tracer }: Tracing, run: ClaimedRun): { span: Span; context: Context } {
  const origin = parseTraceparent(run.traceparent);
  const remote = origin && { ...origin, isRemote: true };
  const parent = remote && run.fresh ? api.trace.setSpanContext(api.ROOT_CONTEXT, remote) : api.ROOT_CONTEXT;
  const span = tracer.startSpan(
    `invoke_agent ${run.agent}`,
    {
      kind: api.SpanKind.INTERNAL,
      ...(remote && !run.fresh ? { links: [{ context: remote }] } : {}),
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': run.agent,
        'gen_ai.conversation.id': run.threadId,
        'lanefold.run.id': run.runId,
        'lanefold.run.model': run.model,
        'lanefold.run.lane': run.contextRef,
        'lanefold.claim.first': run.fresh,
        'lanefold.claim.step': run.step,
        'lanefold.claim.queued_ms': run.queuedMs,
      },
    },
    parent,
  );
  return { span, context: api.trace.setSpan(parent, span) };
}

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
