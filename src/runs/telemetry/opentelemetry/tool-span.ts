import type { Attributes, Context, Span } from '@opentelemetry/api';
import type { ToolOutcome } from '../../../agent/tools/outcome.ts';
import { errorTypeOf, toolArguments, toolResult } from './attributes.ts';
import type { ClaimedRun, ObservedToolCall } from '../telemetry.ts';
import type { Tracing } from './tracing.ts';

/** A tool call with all its attempts as a span. */
export class ToolSpan {
  readonly #startedAt = performance.now();
  readonly #startTime = Date.now();
  readonly #span: Span;

  constructor(
    private readonly tracing: Tracing,
    private readonly parent: Context,
    private readonly run: ClaimedRun,
    private readonly observed: ObservedToolCall,
  ) {
    const { api, tracer, content } = tracing;
    const { name } = observed.call;
    const attributes = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.agent.name': run.agent,
      'gen_ai.tool.name': name,
      'gen_ai.tool.type': 'function',
    };
    const options = { kind: api.SpanKind.INTERNAL, startTime: this.#startTime, attributes };
    this.#span = tracer.startSpan(`execute_tool ${name}`, options, parent);
    if (content && this.#span.isRecording()) this.#span.setAttributes(toolArguments(content, observed));
  }

  /** Executes the call inside the span, so that spans the tool creates are nested in it. */
  during<T>(work: () => Promise<T>): Promise<T> {
    const { api } = this.tracing;
    return api.context.with(api.trace.setSpan(this.parent, this.#span), work);
  }

  /** Ends the span of a call that has an outcome. */
  ended(outcome: ToolOutcome): ToolOutcome {
    const { content } = this.tracing;
    const { status, attempts, error } = outcome;
    if (content && this.#span.isRecording()) this.#span.setAttributes(toolResult(content, outcome.content));
    const spent = { 'lanefold.tool_call.status': status, 'lanefold.tool_call.attempts': attempts };
    this.#endLater(spent, status === 'ok' || status === 'waiting' ? undefined : (error?.type ?? status));
    return outcome;
  }

  failed(error: unknown): never {
    this.#endLater({}, errorTypeOf(error));
    throw error;
  }

  #attributes(): Attributes {
    const { run, observed } = this;
    const attributes: Attributes = {
      'gen_ai.tool.call.id': observed.call.id,
      'gen_ai.conversation.id': run.threadId,
      'lanefold.run.id': run.runId,
      'lanefold.iteration': observed.iteration,
      'lanefold.tool_call': `${observed.round}.${observed.index}`,
    };
    if (observed.description) attributes['gen_ai.tool.description'] = observed.description;
    if (observed.lostAttempts > 0) attributes['lanefold.tool_call.lost_attempts'] = observed.lostAttempts;
    return attributes;
  }

  #endLater(attributes: Attributes, errorType: string | undefined): void {
    const seconds = (performance.now() - this.#startedAt) / 1000;
    this.tracing.batch.later(() => this.#end(seconds, attributes, errorType));
  }

  #end(seconds: number, attributes: Attributes, errorType: string | undefined): void {
    const { api, meters } = this.tracing;
    const metered: Attributes = {
      'gen_ai.agent.name': this.run.agent,
      'gen_ai.tool.name': this.observed.call.name,
      'gen_ai.tool.type': 'function',
    };
    if (errorType !== undefined) {
      metered['error.type'] = attributes['error.type'] = errorType;
      this.#span.setStatus({ code: api.SpanStatusCode.ERROR });
    }
    if (this.#span.isRecording()) this.#span.setAttributes(Object.assign(this.#attributes(), attributes));
    this.#span.end(this.#startTime + seconds * 1000);
    meters.toolCall.record(seconds, metered, this.parent);
  }
}
