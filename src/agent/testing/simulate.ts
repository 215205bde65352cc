import type { Message, ModelTurn, ToolCall, Usage } from '../context/message.ts';
import type {
  StrategyDecision,
  StrategyEvent,
  StrategyState,
  CallOutcome,
  RunFacts,
  StepDraft,
} from '../strategies/machine.ts';
import type { RunError } from '../strategies/run-error.ts';
import { parseOptions } from '../strategies/options.ts';
import type { Strategy } from '../strategies/registry.ts';
import { cutOf } from '../models/answer/usable.ts';
import { judgeCall } from '../tools/judge-call.ts';
import { MemoryStore } from './memory-store.ts';

/** A model call of a simulated run. */
export interface SimulatedCall {
  callId: string;
  /** Empty for a strategy that works on the lane's context. */
  messages: Message[];
  /** The last message as text. */
  prompt: string;
}

export interface Simulation {
  question: string;
  /** Options of the strategy, in camelCase. */
  options?: object;
  /** Answers a model call with a text, a whole turn, or an error that is not retried. Must depend only on the call. */
  answer(call: SimulatedCall): string | Partial<ModelTurn> | Error;
  /** Runs a tool; default: returns `ok`. */
  tool?(call: ToolCall): string | Partial<CallOutcome>;
  /** Index of the open call that is answered next; default the first. */
  nextOf?(calls: readonly { callId: string }[]): number;
  /** Time since the start of the run, in ms; default 0. */
  elapsedMs?(): number;
  facts?: Partial<RunFacts>;
  /** The moments at which the worker crashes, counted from 0: before and after every commit, and after every answer. */
  crashAt?: readonly number[];
}

/** How a simulated run went. */
export interface SimulatedRun {
  /** How the run ended; undefined if the strategy failed it without a step. */
  finish: StepDraft['finish'];
  error?: RunError;
  /** Every committed step, in order. */
  steps: StepDraft[];
  /** Every model call made, including those repeated after a crash. */
  calls: SimulatedCall[];
  store: MemoryStore;
  /** Number of moments at which the run could have crashed. */
  moments: number;
  /** Size of the largest committed state as JSON, in bytes. */
  stateBytes: number;
}

/** Decisions after which a simulated run counts as endless. */
const maxDecisions = 100_000;

/**
 * Drives a strategy in memory: commits its steps, answers its calls with `answer`, and crashes at the moments in
 * `crashAt`.
 *
 * @throws Error where the strategy breaks the rules of the runtime: a state that is too large, an endless run
 *
 * @example
 * ```ts
 * import { defineStrategy } from 'lanefold/strategy';
 * import { simulate } from 'lanefold/testing';
 *
 * const parrot = defineStrategy<null>({
 *   name: 'parrot',
 *   begin: (question) => ({ memory: null, questions: [{ purpose: 'word', prompt: question }] }),
 *   learn: (memory, [answer]) => ({ memory, end: { reason: 'done', answer: answer!.text, result: answer!.text } }),
 *   best: (_, { reason }) => ({ reason, answer: null, result: null }),
 * });
 * const run = simulate(parrot, { question: 'Who is there?', answer: () => 'Polly' });
 * console.log(run.finish, run.calls.length);
 * ```
 */
export function simulate(strategy: Strategy, simulation: Simulation): SimulatedRun {
  const facts = factsOf(strategy, simulation);
  const store = new MemoryStore();
  const run: SimulatedRun = { finish: undefined, steps: [], calls: [], store, moments: 0, stateBytes: 0 };
  const crashes = new Set(simulation.crashAt);
  const survives = () => !crashes.has(run.moments++);
  const resume = (): StrategyDecision => strategy.resume(facts, store.state, store.answers());

  let decision: StrategyDecision = strategy.start(facts) as StrategyDecision;
  for (let n = 0; n < maxDecisions; n++) {
    const { state, step, command, memory } = decision;
    if (step) {
      const lost = !survives();
      if (!lost) {
        run.stateBytes = Math.max(run.stateBytes, store.commit(state, step));
        run.steps.push(step);
        if (step.finish) return Object.assign(run, { finish: step.finish });
      }
      if (lost || !survives()) {
        decision = resume();
        continue;
      }
    }
    if (command.type === 'fail') return Object.assign(run, { error: command.error });
    const event = execute(simulation, run, state, command);
    if (survives()) {
      const spent = { tokens: store.tokens(), elapsedMs: simulation.elapsedMs?.() ?? 0 };
      decision = strategy.on(facts, state, { ...event, spent }, memory) as StrategyDecision;
    } else decision = resume();
  }
  throw new Error(`The strategy ${strategy.name} did not end within ${maxDecisions} decisions.`);
}

function factsOf(strategy: Strategy, { question, options, facts }: Simulation): RunFacts {
  const parsed = parseOptions(strategy, options);
  return {
    runId: 'run_1',
    model: 'test:model',
    maxIterations: strategy.maxIterations ?? 10,
    maxModelRetries: 4,
    question: { text: question, parts: [], system: null, history: [] },
    ...(parsed ? { options: parsed } : {}),
    ...facts,
  };
}

function execute(
  simulation: Simulation,
  run: SimulatedRun,
  state: StrategyState,
  command: StrategyDecision['command'],
): StrategyEvent {
  switch (command.type) {
    case 'call_model':
      return call(simulation, run, { callId: command.callId, messages: [] });
    case 'call_models': {
      const index = simulation.nextOf?.(command.calls) ?? 0;
      return call(simulation, run, command.calls[index]!);
    }
    case 'run_tools':
      return {
        type: 'tools_finished',
        calls: command.calls,
        outcomes: command.calls.map((tool) => {
          const refused = judgeCall(tool, undefined, state.cut);
          return refused ? (refused as CallOutcome) : outcomeOf(simulation.tool?.(tool) ?? 'ok');
        }),
      };
    default:
      throw new Error(`A simulation cannot execute ${command.type} in phase ${state.phase}.`);
  }
}

function call(
  simulation: Simulation,
  run: SimulatedRun,
  { callId, messages }: { callId: string; messages: Message[] },
): StrategyEvent {
  const content = messages.at(-1)?.content ?? '';
  const made = { callId, messages, prompt: typeof content === 'string' ? content : JSON.stringify(content) };
  run.calls.push(made);
  const answer = simulation.answer(made);
  if (answer instanceof Error) {
    return { type: 'model_failed', callId, error: { type: 'llm_request', message: answer.message }, retryable: false };
  }
  const turn = { text: '', toolCalls: [], usage, finishReason: 'stop' };
  const given = typeof answer === 'string' ? { text: answer } : answer;
  const whole = { ...turn, ...given };
  const cut = cutOf(whole, undefined);
  return { type: 'model_answered', callId, contextHash: 'simulated', turn: whole, ...(cut ? { cut } : {}) };
}

const usage: Usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };

const outcomeOf = (result: string | Partial<CallOutcome>): CallOutcome => ({
  status: 'ok',
  content: '',
  attempts: 1,
  durationMs: 0,
  ...(typeof result === 'string' ? { content: result } : result),
});
