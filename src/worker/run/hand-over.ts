import { subtractUsage, type JsonObject, type Usage } from '../../agent/context/message.ts';
import { type HandoffRecord, type RunOptions, handedOver } from '../../agent/definition/run-options.ts';
import type { EntryDraft, StrategyDecision } from '../../agent/strategies/machine.ts';
import { llmStarted, type TurnState } from '../../agent/strategies/turn/events.ts';
import type { NextAgent } from '../../agent/tools/handoff.ts';
import type { ActiveRun } from './open-run.ts';
import { commit } from './commit.ts';
import type { RunDependencies } from './dependencies.ts';
import type { RunProgress } from './progress.ts';
import { toRunEnd, type RunEnd } from './run-end.ts';

/**
 * Ends the tool round of a run, or stores its answer, and gives the run to another agent, in one commit. The run is queued again, because this
 * worker has claimed it under the prompt, the limits and the model of its agent. `decision` is what the strategy made of
 * the round. Returns undefined, and has written nothing, if the run is to be cancelled.
 */
export async function commitHandoff(
  deps: RunDependencies,
  active: ActiveRun,
  decision: StrategyDecision,
  { agent: name, context, model, prompt, ask, context_policy: policy, pinned }: NextAgent,
): Promise<RunEnd | undefined> {
  const { claim, clock, facts, progress } = active;
  // more than a step that merely resumes the run
  active.resumed = false;
  const state = { ...decision.state, handed: context } as TurnState;
  const { tokens, elapsedMs } = clock.spent(progress);
  const record: HandoffRecord = {
    ...{ from: claim.agent, to: name, iteration: state.iteration - 1, tokens, elapsed_ms: elapsedMs },
  };
  const handoff = {
    ...{ agent: name, model, prompt, from: claim.agent },
    options: {
      ...optionsOf(active, record),
      ...(policy === undefined ? {} : { context_policy: policy }),
      ...(pinned === undefined ? {} : { pinned }),
    } as JsonObject,
    ...otherUsageOf(progress, claim.model, model, record.iteration),
  };
  // the limits of the earlier agent do not end the run
  const { finish: _, continue: __, thenEvents: ___, entries = [], ...step } = decision.step ?? {};
  const refs = { kind: 'handoff', from: claim.agent };
  const question: EntryDraft[] = ask === undefined ? [] : [{ role: 'user', payload: { content: ask }, refs }];
  const started = llmStarted({ ...facts, model }, state);
  const result = await commit(
    deps,
    active,
    state,
    { ...step, entries: [...entries, ...question], drain: true, thenEvents: [started] },
    handoff,
  );
  if (result.cancel_requested && !result.duplicate) return undefined;
  return toRunEnd(progress, { status: 'queued', ...(result.job ? { promoted: result.job } : {}) });
}

/** The options of the run from now on; `asked` keeps its request, for a retry. */
function optionsOf({ claim }: ActiveRun, record: HandoffRecord): RunOptions {
  const { handoffs = [], ...given } = claim.options ?? {};
  const { agent, model, strategy } = claim;
  const asked = given.asked ?? { agent, model, strategy, options: given };
  return { ...handedOver(given), asked, handoffs: [...handoffs, record] };
}

/** What was used so far is of another model, if the next agent has another one. */
function otherUsageOf({ usage, otherUsage = {} }: RunProgress, from: string, to: string, calls: number): JsonObject {
  if (from === to || !usage) return {};
  const { [to]: _, ...others } = otherUsage;
  let own: Usage = { ...usage, calls };
  for (const used of Object.values(otherUsage)) own = subtractUsage(own, used);
  return { other_usage: { ...others, [from]: own } };
}
