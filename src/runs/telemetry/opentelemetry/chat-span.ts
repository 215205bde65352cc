import type { Attributes, Context, Span } from '@opentelemetry/api';
import type { JsonObject, ModelTurn } from '../../../agent/context/message.ts';
import {
  errorTypeOf,
  addAnswer,
  addLostUsage,
  addSettings,
  addUsage,
  observedModel,
  inputContent,
  outputContent,
} from './attributes.ts';
import type { ClaimedRun, ObservedModelCall } from '../telemetry.ts';
import type { Tracing } from './tracing.ts';

/** The error type of a call whose answer was never stored: its tokens were spent, and the call is repeated. */
const lost = 'llm_lost';

/**
 * A model call as a span. An answered call stays open until it is known whether the answer was stored. Tokens of an
 * answer that was not are recorded separately, because the run does not count them either: the sums over all spans
 * equal the run's `usage`.
 */
export class ChatSpan {
  readonly #startedAt = performance.now();
  readonly #startTime = Date.now();
  /** The attributes that samplers and metrics use. */
  readonly #metered: Attributes;
  readonly #span: Span;
  #firstPartAt: number | undefined;
  #seconds = 0;
  #turn: ModelTurn | undefined;

  constructor(
    private readonly tracing: Tracing,
    private readonly parent: Context,
    private readonly run: ClaimedRun,
    readonly call: ObservedModelCall,
  ) {
    const { api, tracer, content } = tracing;
    const { spanName, attributes } = observedModel(call.model);
    this.#metered = attributes;
    const options = { kind: api.SpanKind.CLIENT, startTime: this.#startTime, attributes };
    this.#span = tracer.startSpan(spanName, options, parent);
    if (content && this.#span.isRecording()) this.#span.setAttributes(inputContent(content, call));
  }

  /** Makes the call inside the span, so that spans of the provider's client are nested in it. */
  during<T>(work: (onFirstPart: () => void) => Promise<T>): Promise<T> {
    const { api } = this.tracing;
    const onFirstPart = () => void (this.#firstPartAt ??= performance.now());
    return api.context.with(api.trace.setSpan(this.parent, this.#span), work, undefined, onFirstPart);
  }

  answered(turn: ModelTurn): void {
    const { meters, batch, content } = this.tracing;
    this.#turn = turn;
    this.#seconds = this.#secondsUntil(performance.now());
    batch.record(meters.modelCall, this.#seconds, this.#metered, this.parent);
    if (this.#firstPartAt !== undefined)
      batch.record(meters.firstChunk, this.#secondsUntil(this.#firstPartAt), this.#metered, this.parent);
    if (content && this.#span.isRecording()) this.#span.setAttributes(outputContent(content, turn));
  }

  /** Ends the span of an answered call. */
  settle(committed: boolean): void {
    const { meters, batch } = this.tracing;
    batch.later(() => this.#end(committed ? undefined : lost));
    if (!committed) return;
    for (const { counter, instrument } of meters.tokens) {
      const count = this.#turn?.usage[counter];
      if (count) batch.add(instrument, count, this.#metered);
    }
  }

  /** Ends the span of a failed call. */
  failed(error: unknown): never {
    const { meters, batch } = this.tracing;
    const type = errorTypeOf(error);
    this.#seconds = this.#secondsUntil(performance.now());
    batch.record(meters.modelCall, this.#seconds, { ...this.#metered, 'error.type': type }, this.parent);
    batch.later(() => this.#end(type));
    throw error;
  }

  /** Those that no sampler uses. The SDK copies attributes given at the start three times, others once. */
  #attributes(): Attributes {
    const { run, call } = this;
    const attributes: Attributes = {
      'gen_ai.conversation.id': run.threadId,
      'lanefold.run.id': run.runId,
      'lanefold.llm_call_id': call.callId,
      'lanefold.iteration': call.iteration,
    };
    if (call.stream) attributes['gen_ai.request.stream'] = true;
    return addSettings(attributes, call.settings);
  }

  #secondsUntil(moment: number): number {
    return (moment - this.#startedAt) / 1000;
  }

  #end(errorType: string | undefined): void {
    const { api } = this.tracing;
    const turn = this.#turn;
    if (this.#span.isRecording()) {
      const attributes = this.#attributes();
      if (turn) {
        addAnswer(attributes, turn);
        if (this.#firstPartAt !== undefined)
          attributes['gen_ai.response.time_to_first_chunk'] = this.#secondsUntil(this.#firstPartAt);
        const add = errorType === undefined ? addUsage : addLostUsage;
        add(attributes, turn.usage);
        const { estimated_tokens: estimated } = turn.usage;
        if (estimated !== undefined) attributes['lanefold.estimated_tokens'] = estimated;
      }
      if (errorType !== undefined) attributes['error.type'] = errorType;
      this.#span.setAttributes(attributes);
    }
    if (errorType !== undefined) this.#span.setStatus({ code: api.SpanStatusCode.ERROR });
    this.#span.end(this.#startTime + this.#seconds * 1000);
  }
}

/** Marks a model call that died with its worker, when the run is resumed: that worker's own span never ended. */
export function markLostCall({ api, tracer }: Tracing, parent: Context, run: ClaimedRun, data: JsonObject = {}): void {
  const model = run.model.slice(run.model.indexOf(':') + 1, 200);
  const attributes: Attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': model,
    'gen_ai.conversation.id': run.threadId,
    'lanefold.run.id': run.runId,
    'lanefold.llm_call_id': String(data['call_id'] ?? ''),
    'error.type': lost,
  };
  const span = tracer.startSpan(`chat ${model.slice(0, 100)}`, { kind: api.SpanKind.CLIENT, attributes }, parent);
  span.setStatus({ code: api.SpanStatusCode.ERROR, message: 'The worker died during this call.' }).end();
}
