import type { EnqueueDeps } from './enqueue-options.ts';
import type { RunEvent } from '../../../database/store/trace/types.ts';
import type { AgentRegistry } from '../../../agent/definition/registry.ts';
import type { ContentInput } from '../../../agent/models/accept-content.ts';
import type { Json, Usage } from '../../../agent/context/message.ts';
import { refuseUnknownKeys } from '../../../base/checks/unknown-keys.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { briefly, dispatchFirst } from '../../queue/relay.ts';
import { readRequest } from '../../../database/store/run/read-request.ts';
import type { RunOptions } from '../../../agent/definition/run-options.ts';
import type { Run, TerminationReason, RunRef } from '../../../database/store/run/run.ts';
import { readRunEvents } from '../../../database/store/trace/read-events.ts';
import { type Checkpoint, signingSecret, decodeToken, encodeToken } from '../../../base/tokens/token.ts';
import { enqueue } from './enqueue.ts';
import type { MintedToken, DeclaredRuns } from './types.ts';
import { resumeRun } from '../../../database/store/run/queue-again.ts';

export interface CollectOptions {
  /** False: return what is known now and resume nothing. Default true. */
  runUntilTerminal?: boolean;
  timeoutMs?: number;
  signal?: AbortSignal;
}

/** The outcome of a run in one object. */
export interface CollectedRun {
  run: Run;
  result: Json;
  terminationReason: TerminationReason | null;
  usage: Usage | null;
  /** A token for the current step; null for a cancelled run. */
  finalToken: string | null;
  /** The events of the run; empty without `runUntilTerminal`. */
  trace: RunEvent[];
}

export interface CheckpointDeps extends EnqueueDeps {
  tokenSecrets: readonly string[];
  get(run: RunRef): Promise<Run>;
  wait(run: RunRef, options: { timeoutMs?: number; signal?: AbortSignal }): Promise<Run>;
}

/** The checkpoint of a token, provided we signed it and the agent's configuration has not changed. */
export function openToken(deps: CheckpointDeps, token: string): Checkpoint {
  signingSecret(deps.tokenSecrets);
  const { agents } = deps;
  return decodeToken(token, deps.tokenSecrets, {
    nowMs: deps.db.settings.clock.now(),
    fingerprintOf: (name) => fingerprint(agents, name),
  });
}

const fingerprint = (agents: AgentRegistry, name: unknown): string | undefined =>
  typeof name === 'string' && agents.has(name) ? agents.get(name).fingerprint : undefined;

/** 30 days: a token that was forgotten somewhere must not work for ever. */
export const defaultExpiryMs = 2_592_000_000;

/** Mints a token for the current step of a run. See `Runs.checkpoint`. */
export async function mintToken(
  deps: CheckpointDeps,
  ref: RunRef,
  { expiresInMs = defaultExpiryMs }: { expiresInMs?: number | null } = {},
): Promise<MintedToken> {
  const secret = signingSecret(deps.tokenSecrets);
  const run = await deps.get(ref);
  if (run.status === 'cancelled') throw cancelled(run.id);
  const iatMs = deps.db.settings.clock.now();
  const expMs = expiresInMs === null ? null : iatMs + expiresInMs;
  const token = encodeToken(
    {
      threadId: run.threadId,
      runId: run.id,
      requestId: run.requestId,
      agent: run.agent,
      step: run.step,
      iatMs,
      expMs,
      configFingerprint: deps.agents.get(run.agent).fingerprint,
      state: { context: run.contextRef, status: run.status, iteration: run.iteration },
    },
    secret,
  );
  return {
    token,
    threadId: run.threadId,
    runId: run.id,
    step: run.step,
    expiresAt: expMs === null ? null : new Date(expMs),
  };
}

/** Resumes from a token. See `Runs.resume`. */
export async function resume(
  deps: CheckpointDeps,
  token: string,
  options: NonNullable<Parameters<DeclaredRuns['resume']>[1]> = {},
): Promise<Run> {
  const point = openToken(deps, token);
  const ref = { threadId: point.threadId, id: point.runId };
  const { query, requestId, caller } = options;
  if (query !== undefined && !(typeof query === 'string' && query.trim() === '')) {
    return askAgain(deps, await deps.get(ref), query, { requestId, caller });
  }
  const { db, queue } = deps;
  const job = await resumeRun(db, ref.threadId, ref.id, { step: point.step, queuePrefix: queue.prefix });
  if (job) await briefly(dispatchFirst(db, queue, [job]));
  return deps.get(ref);
}

async function askAgain(
  deps: CheckpointDeps,
  run: Run,
  input: ContentInput,
  { requestId, caller }: { requestId: string | undefined; caller: string | undefined },
): Promise<Run> {
  if (run.status === 'cancelled') throw cancelled(run.id);
  if (!run.finishedAt) {
    throw new LanefoldError('run_active', `Run ${run.id} has not ended.`, {
      hint: 'Steer it, or wait for it to end; to restart a run that lost its worker, resume it without a query.',
    });
  }
  const { options } = (await readRequest(deps.db, run.threadId, run.id)) ?? {};
  const { limit_keys: limitKeys } = (options ?? {}) as RunOptions;
  const question = {
    agent: run.agent,
    model: run.model,
    threadId: run.threadId,
    contextRef: run.contextRef,
    input,
    resumedFrom: run.id,
    // whom it counts for; the version is left to the rollout, which may have moved the thread
    ...(limitKeys === undefined ? {} : { limitKeys }),
    ...(requestId === undefined ? {} : { requestId }),
  };
  return deps.get(await enqueue(deps, question, { caller }));
}

const cancelled = (id: string): LanefoldError =>
  new LanefoldError('token_stale', `Run ${id} was cancelled, so its checkpoints no longer work.`, {
    hint: 'Start a new run.',
  });

const pageSize = 1_000;

/** Collects the outcome of the run of a token. See `Runs.collect`. */
export async function collectRun(
  deps: CheckpointDeps,
  token: string,
  options: CollectOptions = {},
): Promise<CollectedRun> {
  refuseUnknownKeys('runs.collect', options, { runUntilTerminal: true, timeoutMs: true, signal: true });
  const { threadId, runId: id } = openToken(deps, token);
  const ref = { threadId, id };
  if (options.runUntilTerminal === false) return toCollected(await deps.get(ref), token, []);
  // a run that a worker holds, or that was cancelled, needs no resume
  await resume(deps, token).catch((error: unknown) => {
    if (!(error instanceof LanefoldError && ['run_active', 'token_stale'].includes(error.code))) throw error;
  });
  const run = await deps.wait(ref, options);
  const trace: RunEvent[] = [];
  for (let page = pageSize; page === pageSize;) {
    const events = await readRunEvents(deps.db, threadId, id, trace.at(-1)?.eventSeq ?? -1, pageSize);
    trace.push(...events);
    page = events.length;
  }
  const last = run.status === 'cancelled' ? null : (await mintToken(deps, ref)).token;
  return toCollected(run, last, trace);
}

const toCollected = (run: Run, finalToken: string | null, trace: RunEvent[]): CollectedRun => ({
  run,
  result: run.result,
  terminationReason: run.terminationReason,
  usage: run.usage,
  finalToken,
  trace,
});
