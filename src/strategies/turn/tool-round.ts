import type { ToolCall } from '../../context/message.ts';
import type { Decision, EntryDraft, EventDraft, MachineEvent, Outcome, RunFacts, StepDraft } from '../machine.ts';
import { callId, type ReactState } from './state.ts';
import { advance, checkpoint, finishAtLimit, llmStarted } from './steps.ts';

type Finished = Extract<MachineEvent, { type: 'tools_finished' }>;

const warning =
  'You have repeated the same tool calls with the same arguments as in your previous turn. ' +
  'Use the results you have, try something different, or give your final answer.';

export function onToolsFinished(run: RunFacts, state: ReactState, event: Finished): Decision<ReactState> {
  const { calls, outcomes } = event;
  const signature = signatureOf(calls);
  const entries = calls.map((call, i) => toolEntry(call, outcomes[i]!, state));
  const next: ReactState = { ...advance(state), signature };
  if (run.cycleWarning !== false && signature === state.signature) {
    entries.push({
      role: 'user',
      payload: { content: warning },
      refs: { kind: 'cycle_warning', iteration: state.iteration },
    });
  }
  const step: StepDraft = {
    entries,
    events: [...calls.map((call, i) => toolCompleted(call, outcomes[i]!, i, state)), checkpoint(next, 'after_tools')],
    outcomes: outcomes.map((o) => ({ status: o.status, attempts: o.attempts, duration_ms: o.durationMs })),
  };
  const effects = outcomes.flatMap((o, i) => o.effects?.map((effect) => ({ ...effect, call_index: i })) ?? []);
  if (effects.length > 0) step.effects = effects;
  if (next.iteration > run.maxIterations) return finishAtLimit(run, next, step);
  return {
    state: next,
    step: { ...step, drain: true, thenEvents: [llmStarted(run, next)] },
    command: { type: 'call_model', callId: callId(run.runId, next) },
  };
}

const toolEntry = (call: ToolCall, outcome: Outcome, state: ReactState): EntryDraft => ({
  role: 'tool',
  payload: { content: outcome.content, tool_call_id: call.id, name: call.name },
  refs: { iteration: state.iteration, ...(outcome.cleaned ? { cleaned: true } : {}), ...outcome.refs },
});

const toolCompleted = (call: ToolCall, outcome: Outcome, i: number, state: ReactState): EventDraft => ({
  kind: 'tool_completed',
  iteration: state.iteration,
  entry: i,
  data: {
    tool_call_id: call.id,
    tool_name: call.name,
    status: outcome.status,
    attempts: outcome.attempts,
    duration_ms: outcome.durationMs,
    ...(outcome.refused ? { refused_effects: outcome.refused } : {}),
    ...(outcome.refs ? { refs: outcome.refs } : {}),
  },
});

/** Same names and arguments, in any order, whatever the ids. */
const signatureOf = (calls: ToolCall[]): string =>
  hash(
    calls
      .map((call) => `${call.name}:${call.arguments_raw ?? JSON.stringify(call.arguments)}`)
      .sort()
      .join('\n'),
  );

/** Two 32-bit FNV-1a sums: a signature is only ever compared with the one before. */
function hash(text: string): string {
  let a = 0x811c9dc5;
  let b = 0x9e3779b9;
  for (let i = 0; i < text.length; i++) {
    a = Math.imul(a ^ text.charCodeAt(i), 0x01000193);
    b = Math.imul(b ^ text.charCodeAt(i), 0x01000197);
  }
  return (a >>> 0).toString(16) + (b >>> 0).toString(16);
}
