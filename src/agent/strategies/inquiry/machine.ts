import { z } from 'zod';
import type { JsonObject } from '../../context/message.ts';
import { LanefoldError } from '../../../base/errors.ts';
import type { StrategyDecision, StrategyMachine, StrategyEvent, RunFacts } from '../machine.ts';
import type { StoredAnswer } from '../records.ts';
import { askBatch, awaitCalls, endEarly, begin, isComplete, foldAnswers } from './ask.ts';
import {
  callCompleted,
  callLost,
  callRetried,
  callStarted,
  type StrategyDefinition,
  commonOptions,
  askOf,
  callIdOf,
  waitingRound,
  type InquiryState,
  type OpenCall,
  type InquiryProgress,
} from './inquiry.ts';
import { budgetReached } from '../limits.ts';
import { onAnswered, finishToolRound, proceed } from './tool-round.ts';
import { cutError } from '../turn/cut-answer.ts';
import { blankAnswer } from '../turn/events.ts';
import { afterFailure, attemptFacts, firstPlace, lastError, placeAfter, placeAgain } from '../fallback.ts';

export type InquiryMachine<Memory> = StrategyMachine<InquiryState, InquiryProgress<Memory>>;
type Decided<Memory> = StrategyDecision<InquiryState, InquiryProgress<Memory>>;

function firstState(run: RunFacts): InquiryState {
  const place = firstPlace(run);
  return { phase: 'llm', iteration: 0, round: 0, call_no: 0, open: [], ...(place ? { place } : {}) };
}

/**
 * Defines a strategy. Pass it to `defineAgent({ strategy })`, or to `createLanefold({ strategies })` for requests that
 * name it.
 *
 * @example
 * ```ts
 * import { createLanefold, defineAgent } from 'lanefold';
 * import { defineStrategy, quote } from 'lanefold/strategy';
 *
 * // asks twice, and takes the second answer
 * const twice = defineStrategy<string>({
 *   name: 'twice',
 *   begin: (question) => ({ memory: question, questions: [{ purpose: 'draft', prompt: quote('question', question) }] }),
 *   learn(question, [answer], { nextNode }) {
 *     if (nextNode > 2) return { memory: question, end: { reason: 'done', answer: answer!.text, result: answer!.text } };
 *     return { memory: question, questions: [{ purpose: 'revision', prompt: `Improve: ${answer!.text}` }] };
 *   },
 *   best: (_, { reason }) => ({ reason, answer: null, result: null }),
 * });
 *
 * const writer = defineAgent({ name: 'writer', model: 'scripted:echo', strategy: twice });
 * const lanefold = await createLanefold({ agents: [writer] });
 * await lanefold.startWorker();
 * const run = await lanefold.runs.enqueue({ agent: 'writer', input: 'A haiku about queues' });
 * console.log((await lanefold.runs.wait(run)).result);
 * await lanefold.close();
 * ```
 */
export function defineStrategy<Memory, Shape extends z.ZodRawShape = Record<never, z.ZodType>>(
  definition: StrategyDefinition<Memory, Shape>,
): InquiryMachine<Memory> {
  const strategy = definition as unknown as StrategyDefinition<Memory>;
  return {
    name: definition.name,
    tools: definition.tools === true,
    output: false,
    input: false,
    options: z.strictObject({ ...commonOptions.shape, ...definition.options }) as unknown as z.ZodType<JsonObject>,
    maxIterations: definition.maxIterations ?? 200,
    start(run) {
      const folded = begin(strategy, run);
      // the claim has already written the `llm_started` of the first call
      return askBatch(strategy, run, firstState(run), folded, {}, 1);
    },
    resume: (run, state, answers) => resume(strategy, run, state, answers ?? []),
    on(run, state, event, memory) {
      const progress = memory!;
      switch (event.type) {
        case 'model_answered':
          return onModelAnswered(strategy, run, state, event, progress);
        case 'model_failed':
          return onModelFailed(strategy, run, state, event, progress);
        case 'tools_finished':
          return finishToolRound(strategy, run, state, event, progress);
        case 'time_up':
          return endEarly(strategy, state, progress, { reason: 'max_duration' }, {}, event.spent);
        default:
          throw new LanefoldError(
            'internal',
            `The strategy ${strategy.name} does not know the event "${event.type}".`,
            {
              hint: 'This is a bug in Lanefold; please report it.',
            },
          );
      }
    },
  };
}

type EventOf<Type extends StrategyEvent['type']> = Extract<StrategyEvent, { type: Type }>;

function onModelAnswered<Memory>(
  strategy: StrategyDefinition<Memory>,
  run: RunFacts,
  before: InquiryState,
  event: EventOf<'model_answered'>,
  progress: InquiryProgress<Memory>,
): Decided<Memory> {
  const call = openCall(run, before, event.callId);
  const place = placeAfter(call.place);
  const state: InquiryState = before.place || place ? { ...before, place } : before;
  const text = event.turn.toolCalls.length === 0;
  const cutOff = text ? (blankAnswer(event.turn) ?? wholeOnly(run, event)) : undefined;
  if (cutOff) {
    const step = { events: [callCompleted(run, askOf(progress, call.node), call, event)] };
    return endEarly(strategy, state, progress, { reason: 'error', error: cutOff }, step, event.spent);
  }
  return onAnswered(strategy, run, state, event, progress, call);
}

/** The error of a cut answer in a run that takes only whole ones. */
const wholeOnly = ({ onCut }: RunFacts, event: EventOf<'model_answered'>) =>
  event.cut && onCut === 'fail' ? cutError(event) : undefined;

function onModelFailed<Memory>(
  strategy: StrategyDefinition<Memory>,
  run: RunFacts,
  state: InquiryState,
  event: EventOf<'model_failed'>,
  progress: InquiryProgress<Memory>,
): Decided<Memory> {
  const call = openCall(run, state, event.callId);
  const budget = budgetReached(event.error);
  if (budget) return endEarly(strategy, state, progress, { reason: budget }, {}, event.spent);
  const after = afterFailure(run, call.place, call.retries, event);
  const room = call.shortened || (after?.passes && call.retries === 0) ? undefined : event.room;
  if (!room && !after) {
    const error = lastError(run, call.place, event);
    return endEarly(strategy, state, progress, { reason: 'error', error }, {}, event.spent);
  }
  const ask = askOf(progress, call.node);
  const attempt = room ? { place: call.place, retries: call.retries, delayMs: 0 } : after!;
  const { place, retries, delayMs } = attempt;
  const call_no = state.call_no + 1;
  const again: OpenCall = { ...call, call_no, retries, place, ...(room ? { shortened: true as const } : {}) };
  const next = { ...state, room, call_no, open: state.open.map((open) => (open === call ? again : open)) };
  const said = attemptFacts(run, call.place, event, attempt, call.retries + 1);
  const events = [
    callRetried(run, ask, call, { ...said, ...(room ? { room: { ...room } } : {}) }),
    callStarted(run, ask, again),
  ];
  return awaitCalls(run, next, progress, { events }, { callId: callIdOf(run, again), afterMs: delayMs });
}

/** Makes interrupted calls again as new calls; does not ask again for stored answers. */
function resume<Memory>(
  strategy: StrategyDefinition<Memory>,
  run: RunFacts,
  committed: InquiryState | null,
  stored: readonly StoredAnswer[],
): Decided<Memory> {
  const folded = foldAnswers(strategy, run, stored);
  const { progress } = folded;
  if (!committed) {
    const lost = { node: progress.batch[0]?.node ?? 1, call_no: 1, iteration: 1, retries: 0 };
    const step = progress.batch.length > 0 ? { events: [callLost(run, progress.batch[0]!.ask, lost)] } : {};
    return askBatch(strategy, run, { ...firstState(run), call_no: 1 }, folded, step);
  }
  // the batch can be complete here only if the strategy or a limit has changed
  if (folded.turn.end || isComplete(progress)) return askBatch(strategy, run, committed, folded, {});
  // no model call runs during a tool round
  const lost = committed.phase === 'tools' ? [] : committed.open.filter(({ node }) => !waitingRound(progress, node));
  let callNo = committed.call_no;
  const again = new Map(
    lost.map((call) => [call, { ...call, place: placeAgain(run, call.place), call_no: ++callNo, retries: 0 }]),
  );
  const state = { ...committed, call_no: callNo, open: committed.open.map((call) => again.get(call) ?? call) };
  const events = lost.flatMap((call) => {
    const ask = askOf(progress, call.node);
    return [callLost(run, ask, call), callStarted(run, ask, again.get(call)!)];
  });
  return proceed(strategy, run, state, progress, events.length > 0 ? { events } : undefined);
}

function openCall(run: RunFacts, state: InquiryState, callId: string | undefined): OpenCall {
  const found = state.open.find((call) => callIdOf(run, call) === callId);
  if (found) return found;
  throw new LanefoldError('internal', `The strategy did not ask for the answer to the model call ${callId}.`, {
    hint: 'This is a bug in Lanefold; please report it.',
  });
}
