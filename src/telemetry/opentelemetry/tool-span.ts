import type { Attributes, Context } from '@opentelemetry/api';
import type { ToolOutcome } from '../../tools/outcome.ts';
import { errorTypeOf } from '../error-type.ts';
import type { ClaimedRun, ObservedToolCall } from '../telemetry.ts';
import { toolArguments, toolResult } from './content.ts';
import type { Tracing } from './tracing.ts';

/** Executes a tool call inside a span, so that spans the tool creates are nested in it. */
export async function observeToolCall(
  tracing: Tracing,
  parent: Context,
  run: ClaimedRun,
  observed: ObservedToolCall,
  work: () => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  const { api, tracer, meters, measurements, content } = tracing;
  const startedAt = performance.now();
  const { call } = observed;
  const metered: Attributes = {
    'gen_ai.agent.name': run.agent,
    'gen_ai.tool.name': call.name,
    'gen_ai.tool.type': 'function',
  };
  const attributes = { 'gen_ai.operation.name': 'execute_tool', ...metered };
  const span = tracer.startSpan(`execute_tool ${call.name}`, { kind: api.SpanKind.INTERNAL, attributes }, parent);
  const recording = span.isRecording();
  if (recording) span.setAttributes(callAttributes(run, observed));
  if (content && recording) span.setAttributes(toolArguments(content, observed));
  const end = (errorType: string | undefined) => {
    if (errorType !== undefined) {
      metered['error.type'] = errorType;
      span.setAttribute('error.type', errorType).setStatus({ code: api.SpanStatusCode.ERROR });
    }
    span.end();
    measurements.record(meters.toolCall, (performance.now() - startedAt) / 1000, metered, parent);
  };
  try {
    const outcome = await api.context.with(api.trace.setSpan(parent, span), work);
    if (recording) {
      span.setAttribute('lanefold.tool_call.status', outcome.status);
      span.setAttribute('lanefold.tool_call.attempts', outcome.attempts);
    }
    if (content && recording) span.setAttributes(toolResult(content, outcome.content));
    end(outcome.status === 'ok' ? undefined : (outcome.error?.type ?? outcome.status));
    return outcome;
  } catch (error) {
    end(errorTypeOf(error));
    throw error;
  }
}

function callAttributes(run: ClaimedRun, { call, description, ...observed }: ObservedToolCall): Attributes {
  const attributes: Attributes = {
    'gen_ai.tool.call.id': call.id,
    'gen_ai.conversation.id': run.threadId,
    'lanefold.run.id': run.runId,
    'lanefold.iteration': observed.iteration,
    'lanefold.tool_call': `${observed.round}.${observed.index}`,
  };
  if (description) attributes['gen_ai.tool.description'] = description;
  if (observed.lostAttempts > 0) attributes['lanefold.tool_call.lost_attempts'] = observed.lostAttempts;
  return attributes;
}
