import { isTransient } from '../../../src/postgres/errors.ts';
import { dispatch, dispatchFirst } from '../../../src/queue/dispatch.ts';
import { CancelRequested, isLost, Released } from '../../../src/runtime/run/held-run.ts';
import type { Claim, LedgerRow } from '../../../src/store/run/claim-run.ts';
import { commitStep } from '../../../src/store/run/commit-step.ts';
import { finishRun, type AbnormalEnd } from '../../../src/store/run/finish-run.ts';
import { react } from '../../../src/strategies/react/machine.ts';
import { suspendRun } from '../../../src/store/wait/suspend-run.ts';
import type { RunFacts, StrategyDecision, StrategyEvent } from '../../../src/strategies/machine.ts';
import type { TurnState } from '../../../src/strategies/turn/state.ts';
import type { Held } from './held.ts';
import { callModel } from './model.ts';
import { settle } from './limits.ts';
import { runTools } from './tools.ts';

/** Drives a claimed run with the product's strategy until it ends, waits, or is lost. */
export async function drive(held: Held, claim: Claim): Promise<void> {
  try {
    await loop(held, claim);
  } catch (error) {
    if (isLost(error) || isTransient(error) || error instanceof Released) return;
    if (error instanceof CancelRequested)
      return end(held, { status: 'cancelled', reason: 'cancelled', error: { type: 'cancelled', message: 'x' } });
    throw error;
  }
}

async function loop(held: Held, claim: Claim): Promise<void> {
  const { actor, runId } = held;
  const facts: RunFacts = { runId, model: claim.model, maxIterations: 4, maxModelRetries: 2, cycleWarning: true };
  if (claim.cancel_requested) throw new CancelRequested();
  let ledger = claim.calls;
  let decision: StrategyDecision<TurnState> = claim.fresh
    ? react.start(facts)
    : react.resume(facts, claim.state as TurnState | null);
  let resumed = !claim.fresh;
  const calls = openCalls(claim);
  for (;;) {
    const { state, step, command } = decision;
    const committed =
      step && (await held.persist(() => commitStep(actor.db, held, state, step, undefined, { resumed })));
    if (committed) held.step = committed.step;
    if (committed?.finished) {
      if (committed.promoted) await dispatch(actor.db, actor.world.jobs.asRunQueue(), committed.promoted);
      return settle(held);
    }
    if (committed?.cancel_requested) throw new CancelRequested();
    resumed = false;
    let event: StrategyEvent;
    if (committed?.continued) {
      decision = react.on(facts, step!.continue!.state as TurnState, { type: 'continued' });
      continue;
    }
    if (command.type === 'fail') return end(held, { status: 'failed', reason: 'error', error: command.error });
    if (command.type === 'call_model') event = await callModel(held, state, command.afterMs);
    else if (command.type === 'run_tools') {
      const made = command.calls.length > 0 ? command.calls : calls;
      const outcomes = await runTools(held, state, made, ledger);
      if ('awaiting' in outcomes) return suspend(held, state.round, outcomes.awaiting);
      ledger = null;
      event = { type: 'tools_finished', calls: made, outcomes };
    } else throw new Error(`The strategy wants ${command.type}.`);
    decision = react.on(facts, state, event);
  }
}

/** The calls of the round that an earlier worker opened. */
const openCalls = ({ calls }: Claim) =>
  (calls ?? []).map(({ tool_call_id: id, name }: LedgerRow) => ({ id, name, arguments: {} }));

async function end(held: Held, how: AbnormalEnd): Promise<void> {
  const { db, world } = held.actor;
  const answer = await held
    .persist(() => finishRun(db, held, how) as Promise<Awaited<ReturnType<typeof finishRun>> & { duplicate?: boolean }>)
    .catch((error: unknown) => {
      if (isLost(error) || isTransient(error)) return undefined;
      throw error;
    });
  if (answer?.promoted) await dispatch(db, world.jobs.asRunQueue(), answer.promoted);
  if (answer) await settle(held);
}

async function suspend(held: Held, round: number, awaiting: number[]): Promise<void> {
  const { db, world } = held.actor;
  const { job, cancel_requested: cancelled } = await held.persist(
    () =>
      suspendRun(db, held, { round, awaiting, timeoutMs: 20_000 }) as Promise<
        Awaited<ReturnType<typeof suspendRun>> & { duplicate?: boolean }
      >,
  );
  if (cancelled) throw new CancelRequested();
  if (job) return dispatchFirst(db, world.jobs.asRunQueue(), [job]);
  for (const index of awaiting) world.awaiting.push({ threadId: held.threadId, runId: held.runId, round, index });
}
