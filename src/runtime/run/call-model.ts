import type { ReadyAgent } from '../../agents/registry.ts';
import { ModelError } from '../../models/errors/model-error.ts';
import { laneKey, withCacheMarkers } from '../../models/caching/cache-markers.ts';
import { generate } from '../../models/generate.ts';
import { loggedCalls } from '../../tools/call-limit.ts';
import type { StrategyEvent } from '../../strategies/machine.ts';
import type { Claim } from '../../store/run/claim-run.ts';
import type { HeldRun } from './held-run.ts';
import type { Reservation } from '../limits/run-limits.ts';
import { modelFailed } from './model-failed.ts';
import { isOfLimits, reserveCall, settleCall } from './reserve-call.ts';
import { prepareCall } from './prepare-call.ts';
import type { RunContext } from './context.ts';
import type { RunDependencies } from './dependencies.ts';
import { delay } from '../../common/timer.ts';

/**
 * Makes one model call and returns its outcome as an event for the machine. Rejects only once `signal` aborts: on a
 * cancel, on a lost lease, or when the answer is no longer needed.
 */
export async function callModel(
  deps: RunDependencies,
  run: HeldRun,
  agent: ReadyAgent,
  claim: Claim,
  context: RunContext,
  command: { callId: string; afterMs?: number; tools?: false; iteration: number; quiet?: true },
  signal: AbortSignal = run.signal,
): Promise<StrategyEvent> {
  const { callId } = command;
  if (command.afterMs) await delay(command.afterMs, { signal }).catch(() => signal.throwIfAborted());
  let closeLive: (() => void) | undefined;
  let reserved: Reservation | undefined;
  let called = claim.model;
  try {
    const call = await prepareCall(deps, run, agent, claim, context, command.iteration);
    called = call.model;
    const model = await deps.models.resolve(call.model);
    reserved = await reserveCall(deps, run, call);
    run.assertHeld();
    const { contextHash, refs, narrowed } = call;
    const lane = laneKey(run.threadId, claim.context_ref);
    const { prompt, tools, settings } = deps.promptCaching ? withCacheMarkers(call, model, lane) : call;
    const { iteration } = command;
    const observed = { ...call, callId, iteration, name: call.model, model, stream: agent.streaming };
    return await run.telemetry.modelCall(observed, async (onFirstPart) => {
      const turn = await generate(model, {
        prompt,
        tools,
        settings,
        stream: agent.streaming,
        signal,
        idleTimeoutMs: agent.idleTimeoutMs,
        // live readers see only answers to the user
        onStart: (soFar) =>
          (closeLive = command.quiet ? undefined : deps.live?.open(run.threadId, run.runId, callId, soFar)),
        onFirstPart,
      });
      reserved = settleCall(reserved, turn.usage);
      if (call.estimated !== undefined) deps.counting.observe(call.model, call.estimated, turn.usage.input_tokens);
      // This is how providers report a connection that broke mid-answer; half an answer is not an answer.
      if (turn.finishReason === 'incomplete') throw cutAnswer();
      const toolCalls = loggedCalls(turn.toolCalls, agent.maxToolCalls);
      const cut = turn.toolCalls.length - toolCalls.length;
      const checked = agent.output && turn.toolCalls.length === 0 ? await agent.output.check(turn.text) : undefined;
      return {
        type: 'model_answered' as const,
        callId,
        turn: { ...turn, toolCalls },
        contextHash,
        ...(checked ? { checked } : {}),
        refs: { ...refs, agent_version: agent.version.id, ...(cut > 0 && { tool_calls_cut: cut }) },
        ...(narrowed ? { tools: narrowed } : {}),
      };
    });
  } catch (error) {
    signal.throwIfAborted();
    if (isOfLimits(error)) throw error;
    const failed = modelFailed(error);
    if (failed.retryAfterMs !== undefined) await run.limits?.drain(called, failed.retryAfterMs).catch(() => {});
    return { ...failed, callId };
  } finally {
    settleCall(reserved);
    closeLive?.();
  }
}

const cutAnswer = () =>
  new ModelError('The provider interrupted its answer.', { errorType: 'llm_stream', retryable: true });
