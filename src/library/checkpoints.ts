import type { AgentRegistry } from '../agents/registry.ts';
import type { ContentPart, Json, Usage } from '../context/message.ts';
import { LanefoldError } from '../errors.ts';
import type { QueuedRun } from '../store/commit-step.ts';
import { toJob } from '../queue/job.ts';
import type { Checkpoint } from '../tokens/checkpoint.ts';
import { signingSecret } from '../tokens/secrets.ts';
import { decodeToken, encodeToken } from '../tokens/token.ts';
import { enqueueRun, type EnqueueDeps } from './enqueue.ts';
import { readRunEvents, type RunEvent } from '../store/read-events.ts';
import type { Run } from '../store/run-row.ts';
import type { RunRef } from './runs.ts';

export interface MintedToken {
  /** `rt2.…`: signed, not encrypted. It names the run and its step and holds nothing of the conversation. */
  token: string;
  threadId: string;
  runId: string;
  /** The step it points to. */
  step: number;
  /** Null: it does not expire. */
  expiresAt: Date | null;
}

export interface ResumeOptions {
  /** A new question, asked on the lane of the run; it starts a new run with `resumedFrom`. Blank means none. */
  query?: string | ContentPart[];
  /** With a query: the same id again returns the same run. */
  requestId?: string;
}

export interface CollectOptions {
  /** False: tell what is known now, and set nothing going. Default true. */
  runUntilTerminal?: boolean;
  timeoutMs?: number;
  signal?: AbortSignal;
}

/** What became of a run, all at once. */
export interface Collected {
  run: Run;
  result: Json;
  terminationReason: string | null;
  usage: Usage | null;
  /** A token of where the run stands now; null for a cancelled run. */
  finalToken: string | null;
  /** The events of the run; empty without `runUntilTerminal`. */
  trace: RunEvent[];
}

export interface CheckpointDeps extends EnqueueDeps {
  tokenSecrets: readonly string[];
  get(run: RunRef): Promise<Run>;
  wait(run: RunRef, options: { timeoutMs?: number; signal?: AbortSignal }): Promise<Run>;
}

/** The checkpoint of a token, if it is one of ours and the agent is configured as it was. */
export function openToken(deps: CheckpointDeps, token: string): Checkpoint {
  signingSecret(deps.tokenSecrets);
  const { agents } = deps;
  return decodeToken(token, deps.tokenSecrets, {
    nowMs: Date.now(),
    fingerprintOf: (name) => fingerprint(agents, name),
  });
}

const fingerprint = (agents: AgentRegistry, name: unknown): string | undefined =>
  typeof name === 'string' && agents.has(name) ? agents.get(name).fingerprint : undefined;

/** A hundred years. */
export const maxExpiryMs = 3_155_760_000_000;

/** Mints a token of where a run stands now. See `Runs.checkpoint`. */
export async function mintToken(
  deps: CheckpointDeps,
  ref: RunRef,
  { expiresInMs }: { expiresInMs?: number } = {},
): Promise<MintedToken> {
  const secret = signingSecret(deps.tokenSecrets);
  if (expiresInMs !== undefined && !(Number.isInteger(expiresInMs) && expiresInMs >= 1 && expiresInMs <= maxExpiryMs)) {
    throw new LanefoldError(
      'invalid_input',
      `expiresInMs is ${expiresInMs}, not a whole number from 1 to ${maxExpiryMs}.`,
      {
        hint: 'Leave it out for a token that does not expire.',
      },
    );
  }
  const run = await deps.get(ref);
  if (run.status === 'cancelled') throw cancelled(run.id);
  const iatMs = Date.now();
  const expMs = expiresInMs === undefined ? null : iatMs + expiresInMs;
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

/** Goes on from a token. See `Runs.resume`. */
export async function resumeRun(deps: CheckpointDeps, token: string, options: ResumeOptions = {}): Promise<Run> {
  const point = openToken(deps, token);
  const ref = { threadId: point.threadId, id: point.runId };
  const { query } = options;
  if (query !== undefined && !(typeof query === 'string' && query.trim() === '')) {
    return askAnew(deps, await deps.get(ref), query, options.requestId);
  }
  const [row] = await deps.db.query<{ result: { job?: QueuedRun } }>(
    'resume_run',
    'select lanefold.resume_run($1, $2, $3, $4) as result',
    [ref.threadId, ref.id, point.step, deps.queue.prefix],
  );
  const job = row!.result.job;
  // what cannot be added now is added by the next sweep of any worker
  if (job) await deps.queue.add(toJob(job), job.queue_shard).catch(() => {});
  return deps.get(ref);
}

async function askAnew(
  deps: CheckpointDeps,
  run: Run,
  input: string | ContentPart[],
  requestId?: string,
): Promise<Run> {
  if (run.status === 'cancelled') throw cancelled(run.id);
  if (!run.finishedAt) {
    throw new LanefoldError('run_active', `Run ${run.id} has not ended.`, {
      hint: 'Steer it, or wait for its end; resume without a query to have a run without a worker taken up.',
    });
  }
  const handle = await enqueueRun(deps, {
    agent: run.agent,
    model: run.model,
    threadId: run.threadId,
    contextRef: run.contextRef,
    input,
    resumedFrom: run.id,
    ...(requestId === undefined ? {} : { requestId }),
  });
  return deps.get(handle);
}

const cancelled = (id: string): LanefoldError =>
  new LanefoldError('token_stale', `Run ${id} was cancelled: its checkpoints are dead.`, { hint: 'Start a new run.' });

const pageSize = 1_000;

/** Tells what became of the run of a token. See `Runs.collect`. */
export async function collectRun(
  deps: CheckpointDeps,
  token: string,
  options: CollectOptions = {},
): Promise<Collected> {
  const { threadId, runId: id } = openToken(deps, token);
  const ref = { threadId, id };
  if (options.runUntilTerminal === false) return toCollected(await deps.get(ref), token, []);
  // where it stands does not matter here: what is at work, or was cancelled, needs no push
  await resumeRun(deps, token).catch((error: unknown) => {
    if (!(error instanceof LanefoldError && ['run_active', 'token_stale'].includes(error.code))) throw error;
  });
  const run = await deps.wait(ref, options);
  const trace: RunEvent[] = [];
  for (let page = pageSize; page === pageSize;) {
    const events = await readRunEvents(deps.db, threadId, id, trace.at(-1)?.seq ?? 0, pageSize);
    trace.push(...events);
    page = events.length;
  }
  const last = run.status === 'cancelled' ? null : (await mintToken(deps, ref)).token;
  return toCollected(run, last, trace);
}

const toCollected = (run: Run, finalToken: string | null, trace: RunEvent[]): Collected => ({
  run,
  result: run.result,
  terminationReason: run.terminationReason,
  usage: run.usage,
  finalToken,
  trace,
});
