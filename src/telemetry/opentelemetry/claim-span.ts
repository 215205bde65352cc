import type { Context, Span } from '@opentelemetry/api';
import { parseTraceparent } from '../traceparent.ts';
import type { ClaimedRun } from '../telemetry.ts';
import type { Tracing } from './tracing.ts';

/**
 * Starts the span of a claim. The first claim continues the trace of the process that enqueued the run. Each later one
 * starts a new trace linked to it; otherwise a run that waits a week for approval would be one trace of a week.
 */
export function startClaimSpan({ api, tracer }: Tracing, run: ClaimedRun): { span: Span; context: Context } {
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
