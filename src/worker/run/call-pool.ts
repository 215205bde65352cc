import pLimit from 'p-limit';
import { toolsOnly } from '../../agent/definition/apply-overrides.ts';
import type { ReadyAgent } from '../../agent/definition/registry.ts';
import { mergeSettings } from '../../agent/models/settings.ts';
import type { StoredPolicy } from '../../agent/policy/policy.ts';
import type { StrategyEvent, PromptedCall } from '../../agent/strategies/machine.ts';
import { onAbort } from '../../base/common/timer.ts';
import type { Claim } from '../../database/store/run/claim-run.ts';
import { callModel } from './call-model.ts';
import { RunContext } from './context.ts';
import type { RunDependencies } from './dependencies.ts';
import type { HeldRun } from './held-run.ts';

/** Makes one call; must reject once the signal aborts. */
type Call = (call: PromptedCall, signal: AbortSignal) => Promise<StrategyEvent>;

interface UnderWay {
  controller: AbortController;
  outcome: Promise<{ callId: string; event: StrategyEvent }>;
  /** Set once the call has an outcome. */
  event?: StrategyEvent;
}

/**
 * The concurrent model calls of a strategy. They keep running while the strategy decides on the answer to one of them.
 */
export class CallPool {
  readonly #call: Call;
  readonly #underWay = new Map<string, UnderWay>();
  #limit: ReturnType<typeof pLimit> | undefined;

  constructor(call: Call) {
    this.#call = call;
  }

  /**
   * Starts the `calls` that are not running yet, in order and at most `limit` at a time, aborts all other calls, and
   * returns the next outcome. Rejects when a call rejects, or with the reason of `signal`.
   */
  async next(calls: readonly PromptedCall[], limit: number, signal: AbortSignal): Promise<StrategyEvent> {
    signal.throwIfAborted();
    const wanted = new Set(calls.map((call) => call.callId));
    for (const callId of this.#underWay.keys()) if (!wanted.has(callId)) this.#abort(callId);
    this.#limit ??= pLimit(limit);
    for (const call of calls) if (!this.#underWay.has(call.callId)) this.#start(call);
    // an answer goes before a call that failed, which would end the run here and lose the answer
    return this.arrived(calls) ?? this.#first(signal);
  }

  /** The outcome of one of `calls`, if one has already arrived; the pool forgets that call. */
  arrived(calls: readonly PromptedCall[]): StrategyEvent | undefined {
    for (const { callId } of calls) {
      const event = this.#underWay.get(callId)?.event;
      if (!event) continue;
      this.#underWay.delete(callId);
      return event;
    }
    return undefined;
  }

  /** Aborts all running calls. */
  close(): void {
    for (const callId of [...this.#underWay.keys()]) this.#abort(callId);
  }

  async #first(signal: AbortSignal): Promise<StrategyEvent> {
    let unlisten!: () => void;
    const stopped = new Promise<never>((_, reject) => {
      unlisten = onAbort(signal, () => reject(signal.reason as Error));
    });
    try {
      const { callId, event } = await Promise.race([
        stopped,
        ...[...this.#underWay.values()].map(({ outcome }) => outcome),
      ]);
      this.#underWay.delete(callId);
      return event;
    } finally {
      unlisten();
    }
  }

  #start(call: PromptedCall): void {
    const controller = new AbortController();
    const underWay = { controller } as UnderWay;
    const outcome = this.#limit!(async () => {
      controller.signal.throwIfAborted();
      return { callId: call.callId, event: await this.#call(call, controller.signal) };
    });
    underWay.outcome = outcome;
    // `next` reports a failure; until it is called, nothing may be awaiting this promise
    outcome.then(
      ({ event }) => (underWay.event = event),
      () => {},
    );
    this.#underWay.set(call.callId, underWay);
  }

  #abort(callId: string): void {
    this.#underWay.get(callId)?.controller.abort(new Error('The strategy no longer needs the answer.'));
    this.#underWay.delete(callId);
  }
}

/** The pool of a run, whose calls send the strategy's own messages. */
export const callPool = (deps: RunDependencies, run: HeldRun, agent: ReadyAgent, claim: Claim): CallPool =>
  new CallPool((call, signal) => callPrompted(deps, run, agent, claim, call, signal));

/** Some of the messages are not in the log yet, so a cut by a policy is recorded by their positions in the request. */
async function callPrompted(
  deps: RunDependencies,
  run: HeldRun,
  agent: ReadyAgent,
  claim: Claim,
  call: PromptedCall,
  signal: AbortSignal,
): Promise<StrategyEvent> {
  const offered = call.tools === false ? toolsOnly(agent, []) : agent;
  const { system_prompt: _, ...policy } = agent.contextPolicy ?? {};
  const own: ReadyAgent = {
    ...offered,
    ...(call.settings ? { settings: mergeSettings(call.settings, offered.settings) } : {}),
    // the policy's prompt is for the lane; a question keeps the strategy's prompt, which says how to answer
    ...(agent.contextPolicy ? { contextPolicy: policy as StoredPolicy } : {}),
  };
  const both = AbortSignal.any([run.signal, signal]);
  const context = new RunContext(call.messages.map((message, seq) => ({ ...message, seq })));
  const event = await callModel(deps, run, own, claim, context, call, both);
  if (event.type !== 'model_answered' || !event.refs) return event;
  // no earlier call on the lane precedes it, so its cut cannot have moved
  const { dropped, cut_moved: _moved, ...refs } = event.refs;
  return { ...event, refs: { ...refs, ...(dropped === undefined ? {} : { dropped_positions: dropped }) } };
}
