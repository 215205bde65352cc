import { cutText } from '../../context/fold.ts';
import { limitReached } from '../limits.ts';
import type { EntryDraft, RunFacts, StepDraft, StrategyDecision, StrategyMachine } from '../machine.ts';
import type { RunError } from '../records.ts';
import {
  checkpoint,
  llmCompleted,
  assistantEntry,
  blankAnswer,
  type Answered,
  nextIteration,
  type TurnState,
} from './events.ts';
import { callModelAfter } from './model-call.ts';

/** A machine for turns whose memory is the text of the answers that the next one continues. */
type Turns<S extends TurnState> = StrategyMachine<S, string>;

/**
 * A strategy that ends with one text, with the agent's `onCut` for a text that is cut at the limit of output tokens. The
 * parts of a continued text are separate messages in the log, as the model wrote them; the run's result is their text.
 */
export const withCuts = <S extends TurnState>(inner: StrategyMachine<S>): Turns<S> => ({
  ...inner,
  start: (run) => inner.start(run) as StrategyDecision<S, string>,
  resume: (run, state) => carrying(inner.resume(run, state), run.cutText),
  on(run, state, event, earlier) {
    if (event.type !== 'model_answered') return carrying(inner.on(run, state, event), earlier);
    const { turn, cut } = event;
    // what follows the calls is another answer
    if (inner.tools && turn.toolCalls.length > 0)
      return inner.on(run, { ...state, parts: undefined }, event) as StrategyDecision<S, string>;
    const answer = earlier === undefined ? event : { ...event, whole: earlier + turn.text };
    if (cut && !blankAnswer(turn)) {
      if (run.onCut === 'fail') return failCut(run, state, answer);
      if (run.onCut === 'continue' && cut.reason === 'length') return continueCut(inner, run, state, answer);
    }
    return carrying(inner.on(run, state, answer), earlier);
  },
});

/** The error of a run that ends with a cut answer because its agent asks for whole ones. */
export const cutError = ({ cut }: Answered): RunError => ({
  type: 'answer_cut',
  message: `${cutText(cut!, 'The answer')}.`,
});

/** Hands the text on, and ends with it a run that a limit ends before the text is whole. */
function carrying<S extends TurnState>(decision: StrategyDecision<S>, earlier?: string): StrategyDecision<S, string> {
  const { memory: _, ...rest } = decision;
  if (earlier === undefined) return rest;
  const { step, command } = rest;
  const { finish } = step ?? {};
  const ends = finish?.status === 'completed' && finish.result === null;
  return {
    ...rest,
    memory: earlier,
    ...(ends ? { step: { ...step, finish: { ...finish, result: earlier, finish_reason: 'length' } } } : {}),
    command: command.type === 'call_model' || command.type === 'repair_output' ? { ...command, earlier } : command,
  };
}

function continueCut<S extends TurnState>(
  { tools }: StrategyMachine<S>,
  run: RunFacts,
  state: S,
  event: Answered,
): StrategyDecision<S, string> {
  const whole = event.whole ?? event.turn.text;
  const next: S = { ...nextIteration(state), parts: (state.parts ?? 0) + 1 };
  const step = partStep(run, state, event);
  if (tools) step.events.push(checkpoint(state, 'after_llm'));
  const ends = limitReached(run, next.iteration, event.spent) !== undefined;
  if (!ends) step.entries.push(requestForRest(state.iteration));
  return carrying(callModelAfter(run, next, step, event.spent), whole);
}

const failCut = <S extends TurnState>(run: RunFacts, state: S, event: Answered): StrategyDecision<S, string> => ({
  state,
  step: {
    ...partStep(run, state, event),
    finish: { status: 'failed', reason: 'error', error: cutError(event), finish_reason: event.turn.finishReason },
  },
  command: { type: 'finish' },
});

const partStep = (
  run: RunFacts,
  state: TurnState,
  event: Answered,
): StepDraft & Required<Pick<StepDraft, 'entries' | 'events'>> => ({
  entries: [assistantEntry(run, state, event, [])],
  events: [llmCompleted(run, state, event, 'final_answer')],
});

const request =
  'Your answer was cut off at its limit of output tokens. Continue exactly where it ended: do not repeat anything, and do not comment on the cut.';

const requestForRest = (iteration: number): EntryDraft => ({
  role: 'user',
  payload: { content: request },
  refs: { kind: 'cut_answer', iteration },
});
