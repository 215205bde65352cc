import type { ReadyAgent } from '../../agent/definition/registry.ts';
import { brokenAnswer, cutOf } from '../../agent/models/answer.ts';
import { laneKey, withCacheMarkers } from '../../agent/models/cache-markers.ts';
import { estimateUsage } from '../../agent/models/counting.ts';
import { ModelError } from '../../agent/models/model-error.ts';
import { generate } from '../../agent/models/generate.ts';
import { loggedCalls } from '../../agent/tools/judge-call.ts';
import type { ContextRoom } from '../../agent/policy/policy.ts';
import type { Usage } from '../../agent/context/message.ts';
import type { Attempt, StrategyEvent } from '../../agent/strategies/machine.ts';
import type { AnswerSoFar } from '../../runs/streams/publish-deltas.ts';
import type { Claim } from '../../database/store/run/claim-run.ts';
import { CancelRequested, type HeldRun } from './held-run.ts';
import type { Reservation } from '../../runs/limiter/run-limits.ts';
import {
  attemptOf,
  cutShort,
  failureOf,
  mayPass,
  abandonCall,
  isOfLimits,
  reserveCall,
  settleCall,
} from './reserve-call.ts';
import type { GuardedCall } from '../part.ts';
import { beginAttempt, failAttempt } from './attempt.ts';
import { askedOf, prepareCall, type PreparedCall, roomFor } from './prepare-call.ts';
import type { RunContext } from './context.ts';
import type { RunDependencies } from './dependencies.ts';
import { delay } from '../../base/common/timer.ts';

/** What a model call is asked for. */
interface ModelCallCommand extends Attempt {
  callId: string;
  afterMs?: number;
  tools?: false;
  iteration: number;
  quiet?: true;
  earlier?: string;
  room?: ContextRoom;
}

/** How far a call has come. */
interface CallUnderWay {
  call?: PreparedCall;
  guarded?: GuardedCall | undefined;
  reserved?: Reservation | undefined;
  closeLive?: (() => void) | undefined;
  /** What the model has written so far. */
  soFar?: () => AnswerSoFar;
  /** Set once the model has answered, even if the answer cannot be used. */
  usage?: Usage;
}

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
  command: ModelCallCommand,
  signal: AbortSignal = run.signal,
): Promise<StrategyEvent> {
  const { callId } = command;
  if (command.afterMs) await delay(command.afterMs, { signal }).catch(() => signal.throwIfAborted());
  const underWay: CallUnderWay = {};
  try {
    underWay.call = await prepareCall(deps, run, agent, claim, context, command);
    return await makeCall(deps, run, agent, claim, command, underWay.call, underWay, signal);
  } catch (error) {
    const { call, reserved, soFar } = underWay;
    abandonCall(reserved, error);
    const deferred = await failAttempt(underWay.guarded, error, signal.aborted);
    // people have read what was not quiet
    if (signal.reason instanceof CancelRequested && call && soFar && !command.quiet)
      throw new CancelRequested(cutShort(deps, agent, callId, call, soFar()));
    signal.throwIfAborted();
    const failed = failureOf(error, command);
    if (!isOfLimits(error) && failed.retryAfterMs !== undefined)
      await run.limits?.drain(call?.model ?? claim.model, failed.retryAfterMs).catch(() => {});
    // another model answers sooner than this one is called again
    if (deferred && !mayPass(command, failed)) throw deferred;
    const long = error instanceof ModelError ? error.tooLong : undefined;
    const room =
      long && call && (await roomFor(deps.counting, context, agent, askedOf(claim, command), long, call.fitted));
    return { ...failed, ...attemptOf(deps, claim, underWay), callId, ...(room ? { room } : {}) };
  } finally {
    underWay.closeLive?.();
  }
}

async function makeCall(
  deps: RunDependencies,
  run: HeldRun,
  agent: ReadyAgent,
  claim: Claim,
  command: ModelCallCommand,
  call: PreparedCall,
  underWay: CallUnderWay,
  signal: AbortSignal,
): Promise<StrategyEvent> {
  const { callId, iteration } = command;
  const model = await deps.models.resolve(call.model);
  underWay.guarded = await beginAttempt(deps, call.model);
  underWay.reserved = await reserveCall(deps, run, call);
  run.assertHeld();
  const { prompt, tools, settings } = deps.promptCaching
    ? withCacheMarkers(call, model, laneKey(run.threadId, claim.context_ref))
    : call;
  const {
    streaming: stream,
    idleTimeoutMs,
    chain: { firstTokenMs, attemptMs },
  } = agent;
  const observed = { ...call, callId, iteration, name: call.model, model, stream };
  return run.telemetry.modelCall(observed, async (onFirstPart) => {
    const answered = await generate(model, {
      prompt,
      tools,
      settings,
      stream,
      signal,
      idleTimeoutMs,
      firstTokenMs,
      attemptMs,
      onStart: (soFar) => {
        underWay.soFar = soFar;
        // live readers see only answers to the user
        if (command.quiet) return;
        underWay.closeLive = deps.live?.open(run.threadId, run.runId, callId, soFar);
      },
      onFirstPart() {
        underWay.guarded?.answers();
        onFirstPart();
      },
    });
    void underWay.guarded?.ended('ok');
    // an estimate says nothing about how far the heuristic is off
    if (call.estimated !== undefined) deps.counting.observe(call.model, call.estimated, answered.usage.input_tokens);
    const turn = { ...answered, usage: estimateUsage(deps.counting, call, answered) };
    underWay.reserved = settleCall(underWay.reserved, turn.usage);
    underWay.usage = turn.usage;
    const broken = brokenAnswer(turn);
    if (broken) throw broken;
    const cut = cutOf(turn, settings.max_output_tokens);
    const toolCalls = loggedCalls(turn.toolCalls, agent.maxToolCalls);
    const left = turn.toolCalls.length - toolCalls.length;
    const checked =
      agent.output && turn.toolCalls.length === 0
        ? await agent.output.check((command.earlier ?? '') + turn.text)
        : undefined;
    return {
      type: 'model_answered' as const,
      callId,
      turn: { ...turn, toolCalls },
      contextHash: call.contextHash,
      ...(checked ? { checked } : {}),
      ...(cut ? { cut } : {}),
      refs: { ...call.refs, agent_version: agent.version.id, ...(left > 0 && { tool_calls_cut: left }) },
      ...(call.narrowed ? { tools: call.narrowed } : {}),
    };
  });
}
