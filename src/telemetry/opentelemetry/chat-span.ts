import type { Attributes, Context } from '@opentelemetry/api';
import type { JsonObject, ModelTurn } from '../../context/message.ts';
import { errorTypeOf } from '../error-type.ts';
import type { ClaimedRun, ObservedModelCall } from '../telemetry.ts';
import {
  addSettings,
  answerAttributes,
  lostUsageAttributes,
  modelAttributes,
  modelName,
  usageAttributes,
} from './attributes.ts';
import { inputContent, outputContent } from './content.ts';
import type { Tracing } from './tracing.ts';

/** An answered model call. Its span stays open until it is known whether the answer was stored. */
export interface AnsweredCall {
  call: ObservedModelCall;
  settle(committed: boolean): void;
}

/** The error type of a call whose answer was never stored: its tokens were spent, and the call is repeated. */
const lost = 'llm_lost';

/**
 * Makes a model call inside a span, and gives `onAnswer` its answer. Tokens of an answer that was not committed are
 * recorded separately, because the run does not count them either: the sums over all spans equal the run's `usage`.
 */
export async function observeModelCall<T extends { turn: ModelTurn }>(
  tracing: Tracing,
  parent: Context,
  run: ClaimedRun,
  call: ObservedModelCall,
  work: (onFirstPart: () => void) => Promise<T>,
  onAnswer: (answered: AnsweredCall) => void,
): Promise<T> {
  const { api, tracer, meters, measurements, content } = tracing;
  const startedAt = performance.now();
  const startTime = Date.now();
  const metered = modelAttributes(call.model);
  const span = tracer.startSpan(
    `chat ${modelName(call.model)}`,
    { kind: api.SpanKind.CLIENT, startTime, attributes: metered },
    parent,
  );
  const recording = span.isRecording();
  if (recording) span.setAttributes(callAttributes(run, call));
  if (content && recording) span.setAttributes(inputContent(content, call));
  let firstPartAt: number | undefined;
  const onFirstPart = () => (firstPartAt ??= performance.now());
  try {
    const result = await api.context.with(api.trace.setSpan(parent, span), () => work(onFirstPart));
    const { turn } = result;
    const seconds = (performance.now() - startedAt) / 1000;
    measurements.record(meters.modelCall, seconds, metered, parent);
    if (recording) span.setAttributes(answerAttributes(turn));
    if (content && recording) span.setAttributes(outputContent(content, turn));
    if (firstPartAt !== undefined) {
      const untilFirst = (firstPartAt - startedAt) / 1000;
      span.setAttribute('gen_ai.response.time_to_first_chunk', untilFirst);
      measurements.record(meters.firstChunk, untilFirst, metered, parent);
    }
    const settle = (committed: boolean) => {
      if (committed) {
        if (recording) span.setAttributes(usageAttributes(turn.usage));
        for (const { counter, instrument } of meters.tokens) {
          if (turn.usage[counter]) measurements.add(instrument, turn.usage[counter], metered);
        }
      } else {
        span.setAttributes({ ...lostUsageAttributes(turn.usage), 'error.type': lost });
        span.setStatus({ code: api.SpanStatusCode.ERROR });
      }
      span.end(startTime + seconds * 1000);
    };
    onAnswer({ call, settle });
    return result;
  } catch (error) {
    const failed = { 'error.type': errorTypeOf(error) };
    const seconds = (performance.now() - startedAt) / 1000;
    measurements.record(meters.modelCall, seconds, { ...metered, ...failed }, parent);
    span.setAttributes(failed).setStatus({ code: api.SpanStatusCode.ERROR });
    span.end(startTime + seconds * 1000);
    throw error;
  }
}

/**
 * The attributes of a span besides those that samplers use. The SDK copies the attributes given at the start three
 * times, so only the samplers' are given there.
 */
function callAttributes(run: ClaimedRun, call: ObservedModelCall): Attributes {
  const attributes: Attributes = {
    'gen_ai.conversation.id': run.threadId,
    'lanefold.run.id': run.runId,
    'lanefold.llm_call_id': call.callId,
    'lanefold.iteration': call.iteration,
  };
  if (call.stream) attributes['gen_ai.request.stream'] = true;
  return addSettings(attributes, call.settings);
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
