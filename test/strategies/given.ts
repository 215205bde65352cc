import type { ModelTurn, ToolCall } from '../../src/agent/context/message.ts';
import type { StrategyDecision, StrategyEvent, CallOutcome, RunFacts } from '../../src/agent/strategies/machine.ts';
import { react, type ReactState } from '../../src/agent/strategies/react.ts';

export const facts: RunFacts = { runId: 'run_1', model: 'test:m', maxIterations: 3, maxModelRetries: 2 };

export const llm: ReactState = { phase: 'llm', iteration: 1, round: 0, call_no: 1, retries: 0 };
export const tools: ReactState = { ...llm, phase: 'tools', round: 1 };

/** `given(state).when(event)` returns the decision of the ReAct machine; `when` also takes `start` and `resume`. */
export const given = (state: ReactState | null, run: Partial<RunFacts> = {}) => ({
  when(event: StrategyEvent | 'start' | 'resume'): StrategyDecision<ReactState> {
    const runFacts = { ...facts, ...run };
    if (event === 'start') return react.start(runFacts);
    if (event === 'resume') return react.resume(runFacts, state);
    return react.on(runFacts, state!, event);
  },
});

export const call = (id: string, name = 'look', args: ToolCall['arguments'] = {}): ToolCall => ({
  id,
  name,
  arguments: args,
  arguments_raw: JSON.stringify(args),
});

export const answered = (turn: Partial<ModelTurn>): StrategyEvent => ({
  type: 'model_answered',
  contextHash: 'h1',
  turn: {
    text: '',
    toolCalls: [],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    finishReason: 'stop',
    ...turn,
  },
});

export const finished = (
  calls: ToolCall[],
  outcomes: Partial<CallOutcome>[] = calls.map(() => ({})),
): StrategyEvent => ({
  type: 'tools_finished',
  calls,
  outcomes: outcomes.map((o, i) => ({ status: 'ok', content: `r${i}`, attempts: 1, durationMs: 5, ...o })),
});

export const failed = (retryable: boolean, retryAfterMs?: number): StrategyEvent => ({
  type: 'model_failed',
  error: { type: 'llm_request', message: 'broken' },
  retryable,
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});

/** The kinds of a decision's events; those written after drained input follow a bar. */
export const kinds = ({ step }: StrategyDecision<ReactState>): string[] => [
  ...(step?.events ?? []).map((event) => event.kind),
  ...(step?.thenEvents ? ['|', ...step.thenEvents.map((event) => event.kind)] : []),
];
