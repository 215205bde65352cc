import type { JsonObject } from '../../../src/agent/context/message.ts';
import { appendEntries } from '../../../src/database/store/log/append-entries.ts';
import { claimRun, type Claim } from '../../../src/database/store/run/claim-run.ts';
import { commitStep } from '../../../src/database/store/run/commit-step.ts';
import { enqueueRun } from '../../../src/database/store/run/enqueue-run.ts';
import { recordToolCall } from '../../../src/database/store/run/record-tool-call.ts';
import { renewLeases } from '../../../src/database/store/run/renew-leases.ts';
import type { StepDraft, StrategyState } from '../../../src/agent/strategies/machine.ts';
import { leaseMs, tried, type Actor } from './world.ts';

/** A run as a worker holds it; `lease` is 0 for one that it was not given. */
export interface Held {
  threadId: string;
  runId: string;
  leaseMs: number;
  lease: number;
  step: number;
  claim: Claim | undefined;
}

export const enqueue = ({ db }: Actor, threadId: string, runId: string, more: JsonObject = {}) =>
  tried(
    enqueueRun(db, threadId, {
      run_id: runId,
      request_id: runId,
      request_hash: 'aa',
      agent: 'agent',
      strategy: 'react',
      model: 'scripted:x',
      input: { content: `go ${runId}` },
      busy: 'wait',
      create_thread: true,
      ...more,
    }),
  );

export async function claim(
  { db }: Actor,
  workerId: string,
  threadId: string,
  runId: string,
  enqueueNo = 1,
): Promise<Held> {
  const answer = await tried(
    claimRun(db, {
      threadId,
      runId,
      enqueueNo,
      workerId,
      leaseMs,
      prompt: null,
      fingerprint: 'f',
      agentVersion: 'v_1',
      maxClaimsWithoutProgress: 5,
      strategies: ['react'],
      tools: [],
      alone: true,
    }),
  );
  const given = answer?.claimed ? answer : undefined;
  return { threadId, runId, leaseMs, lease: given?.lease ?? 0, step: given?.step ?? 0, claim: given };
}

const state: StrategyState = { phase: 'llm', iteration: 1, round: 0 };

/** Commits a step at the number the worker believes in, and continues to the next one if it was told so. */
export async function commit(
  { db }: Actor,
  run: Held,
  draft: StepDraft,
  after: Partial<StrategyState> = {},
): Promise<void> {
  const answer = await tried(commitStep(db, run, { ...state, ...after }, draft));
  if (answer) run.step = answer.step;
}

export const says = (content: string): StepDraft => ({
  entries: [{ role: 'assistant', payload: { content } }],
  events: [],
});

export const answers = (content: string): StepDraft => ({
  ...says(content),
  finish: { status: 'completed', reason: 'final_answer' },
});

/** The step in which the model calls a tool; it opens the first round. */
export const calls = (name: string): StepDraft => ({
  entries: [{ role: 'assistant', payload: { content: '', tool_calls: [{ id: 'c', name, arguments: {} }] } }],
  events: [],
  calls: [{ index: 0, id: 'c', name }],
});

export const inTools = { phase: 'tools', round: 1 } as const;

export const record = ({ db }: Actor, run: Held, status: string, content?: string) =>
  tried(
    recordToolCall(db, run, 1, 0, {
      status,
      attempts: 1,
      ...(content === undefined ? {} : { duration_ms: 1, outcome: { content } }),
    }),
  );

export const renew = ({ db }: Actor, run: Held) => tried(renewLeases(db, [run], leaseMs, () => {}));

/** Appends notes under their values. */
export const append = (
  { db }: Actor,
  threadId: string,
  values: string[],
  more: { key?: string; expectedRev?: number } = {},
) =>
  tried(
    appendEntries(db, threadId, {
      drafts: values.map((value) => ({ kind: 'note', payload: { text: value }, refs: { value } })),
      ...(more.key === undefined ? {} : { idempotencyKey: more.key, hash: 'aa' }),
      expectedRev: more.expectedRev,
    }),
  );

/** Appends a message of a user to the default lane. */
export const say = ({ db }: Actor, threadId: string, value: string) =>
  tried(
    appendEntries(db, threadId, {
      drafts: [{ kind: 'ai_message', payload: { role: 'user', content: value }, refs: { value } }],
    }),
  );
