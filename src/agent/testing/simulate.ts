import type { Message, ModelTurn, ToolCall, Usage } from '../context/message.ts';
import type {
  StrategyDecision,
  StrategyEvent,
  StrategyState,
  CallOutcome,
  RunFacts,
  StepDraft,
  EntryDraft,
  EventDraft,
} from '../strategies/machine.ts';
import { type RunError, changedNode, type StrategyNode, type StoredAnswer } from '../strategies/records.ts';
import { parseOptions, type Strategy } from '../strategies/registry.ts';
import { cutOf } from '../models/answer.ts';
import { judgeCall } from '../tools/judge-call.ts';
import { parseJson } from '../../base/common/json.ts';
import { isDeepStrictEqual } from 'node:util';

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
    options: parsed,
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
  return { type: 'model_answered', callId, contextHash: 'simulated', turn: whole, cut };
}

const usage: Usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };

const outcomeOf = (result: string | Partial<CallOutcome>): CallOutcome => ({
  status: 'ok',
  content: '',
  attempts: 1,
  durationMs: 0,
  ...(typeof result === 'string' ? { content: result } : result),
});

/** The database rejects a larger state. */
const maxStateBytes = 65_536;

/** What the database would store for a simulated run. */
export class MemoryStore {
  state: StrategyState | null = null;
  readonly entries: EntryDraft[] = [];
  readonly events: EventDraft[] = [];
  readonly nodes = new Map<number, StrategyNode>();

  /** Stores a step in the form it has after JSON, and returns the size of the state in bytes. */
  commit(state: StrategyState, step: StepDraft): number {
    const json = JSON.stringify(state);
    const bytes = Buffer.byteLength(json);
    if (bytes > maxStateBytes) throw new Error(`The state has ${bytes} bytes; at most ${maxStateBytes} are stored.`);
    this.state = parseJson(json) as StrategyState;
    for (const node of step.nodes ?? []) {
      const changed = changedNode(this.nodes.get(node.node), node);
      this.nodes.set(node.node, JSON.parse(JSON.stringify(changed)) as StrategyNode);
    }
    this.entries.push(...(step.entries ?? []));
    this.events.push(...(step.events ?? []), ...(step.thenEvents ?? []));
    return bytes;
  }

  /** The stored answers, as a later claim returns them. */
  answers(): StoredAnswer[] {
    return [...this.nodes.values()]
      .filter((node) => node.callNo !== undefined)
      .sort((a, b) => a.node - b.node)
      .map(({ node, kind, status, content, usage, elapsedMs, data }) => ({
        node,
        kind: kind!,
        status: status as StoredAnswer['status'],
        content: content ?? null,
        usage: usage!,
        elapsedMs: elapsedMs!,
        rounds: (data?.['rounds'] ?? []) as unknown as StoredAnswer['rounds'],
      }));
  }

  /** Tokens of the stored answers. */
  tokens(): number {
    return [...this.nodes.values()].reduce((sum, node) => sum + (node.usage?.total_tokens ?? 0), 0);
  }
}

/**
 * Crashes a run once at each possible moment: before and after every commit, and after every answer. Each time the run
 * must end as the undisturbed run does, with the same nodes and messages, and must not repeat a call whose answer was
 * stored. Returns the undisturbed run.
 *
 * @throws Error naming the moment
 *
 * @example
 * ```ts
 * import { defineStrategy } from 'lanefold/strategy';
 * import { crashEverywhere } from 'lanefold/testing';
 *
 * const parrot = defineStrategy<null>({
 *   name: 'parrot',
 *   begin: (question) => ({ memory: null, questions: [{ purpose: 'word', prompt: question }] }),
 *   learn: (memory, [answer]) => ({ memory, end: { reason: 'done', answer: answer!.text, result: answer!.text } }),
 *   best: (_, { reason }) => ({ reason, answer: null, result: null }),
 * });
 * crashEverywhere(parrot, { question: 'Who is there?', answer: ({ prompt }) => `You said: ${prompt}` });
 * ```
 */
export function crashEverywhere(strategy: Strategy, simulation: Simulation): SimulatedRun {
  const undisturbed = simulate(strategy, simulation);
  const expected = endOf(undisturbed);
  for (let moment = 0; moment < undisturbed.moments; moment++) {
    const crashed = simulate(strategy, { ...simulation, crashAt: [moment] });
    const found = endOf(crashed);
    if (!isDeepStrictEqual(found, expected)) {
      const what = JSON.stringify({ expected, found }, null, 2);
      throw new Error(`${strategy.name} ends differently after a crash at moment ${moment}: ${what}`);
    }
    // at most one answer had arrived without being stored; other open calls are repeated, but never had an answer
    const repeated = crashed.calls.length - undisturbed.calls.length;
    if (repeated > 1) throw new Error(`${strategy.name} repeats ${repeated} calls after a crash at moment ${moment}.`);
  }
  return undisturbed;
}

/** The part of a run that a crash must not change. Call numbers are left out: they rise when a call is repeated. */
function endOf({ finish, error, store }: SimulatedRun): object {
  const entries = store.entries.map(({ refs: _, ...entry }) => entry);
  const nodes = [...store.nodes.values()].sort((a, b) => a.node - b.node).map(({ callNo: _, ...node }) => node);
  return JSON.parse(JSON.stringify({ finish, error, entries, nodes })) as object;
}
