import type { Attributes, Context, Span } from '@opentelemetry/api';
import type { ModelTurn } from '../../context/message.ts';
import type { StepDraft } from '../../strategies/machine.ts';
import type { ToolOutcome } from '../../tools/outcome.ts';
import { RunTelemetry } from '../telemetry.ts';
import type { ClaimedRun, Interruption, ObservedModelCall, ObservedToolCall } from '../telemetry.ts';
import { observeModelCall, markLostCall, type AnsweredCall } from './chat-span.ts';
import { startClaimSpan } from './claim-span.ts';
import type { Tracing } from './tracing.ts';
import { observeToolCall } from './tool-span.ts';

/** One claim of a run as a span that contains its model and tool calls. */
export class RunSpans extends RunTelemetry {
  override readonly traceId: string | undefined;
  readonly #startedAt = performance.now();
  readonly #span: Span;
  readonly #context: Context;
  /** Model answers whose step is not committed yet; they count only once it is. */
  #answered: AnsweredCall[] = [];
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
    return observeModelCall(this.tracing, this.#context, this.run, call, work, (answered) =>
      this.#answered.push(answered),
    );
  }

  override toolCall(call: ObservedToolCall, work: () => Promise<ToolOutcome>): Promise<ToolOutcome> {
    this.#toolCalls += 1;
    return observeToolCall(this.tracing, this.#context, this.run, call, work);
  }

  override stepCommitted({ events = [] }: StepDraft): void {
    if (this.#answered.length > 0) {
      const stored = new Set(events.map(({ kind, data }) => kind === 'llm_completed' && data?.['call_id']));
      // when several calls run at once, later steps store the others
      this.#settle(true, ({ callId, repair }) => repair === true || stored.has(callId));
    }
    for (const { kind, data } of events) {
      if (kind === 'llm_lost') markLostCall(this.tracing, this.#context, this.run, data);
    }
  }

  override ended({ status, iteration, error }: Parameters<RunTelemetry['ended']>[0]): void {
    this.#settle(true);
    this.#span.setAttributes({ 'lanefold.run.status': status, 'lanefold.run.iterations': iteration });
    this.#end(status === 'failed' ? (error?.type ?? 'failed') : undefined);
  }

  override interrupted(reason: Interruption): void {
    this.#settle(false);
    this.#span.setAttribute('lanefold.claim.interrupted', reason);
    this.#end(reason === 'released' ? undefined : reason);
  }

  #settle(committed: boolean, which: (call: ObservedModelCall) => boolean = () => true): void {
    const open = this.#answered;
    this.#answered = [];
    for (const answered of open) {
      if (which(answered.call)) answered.settle(committed);
      else this.#answered.push(answered);
    }
  }

  #end(errorType: string | undefined): void {
    const { api, meters, measurements } = this.tracing;
    const agent: Attributes = { 'gen_ai.agent.name': this.run.agent };
    const attributes = { ...agent };
    if (errorType !== undefined) {
      attributes['error.type'] = errorType;
      this.#span.setAttribute('error.type', errorType).setStatus({ code: api.SpanStatusCode.ERROR });
    }
    this.#span.end();
    measurements.record(meters.claim, (performance.now() - this.#startedAt) / 1000, attributes, this.#context);
    measurements.record(meters.modelCalls, this.#modelCalls, agent, this.#context);
    measurements.record(meters.toolCalls, this.#toolCalls, agent, this.#context);
    measurements.flush();
  }
}
