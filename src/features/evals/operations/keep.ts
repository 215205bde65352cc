import type { AgentRegistry } from '../../../agent/definition/registry.ts';
import { assertId, defaultTenant, newId } from '../../../base/checks/ids.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { invalidCase } from '../invalid.ts';
import { readExpected } from '../cases/read-expected.ts';
import { readLabels } from '../cases/read-labels.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { keepCase } from '../store/cases.ts';
import { firstCall } from '../store/items.ts';
import { readThread } from '../../../database/store/log/read-thread.ts';
import { runNotFound } from '../../../database/store/missing.ts';
import { readRequest } from '../../../database/store/run/read-request.ts';
import type { RunOptions } from '../../../agent/definition/run-options.ts';
import { readSentCall, unverifiedReason } from '../../../runs/operations/contexts/calls.ts';
import type { NewCase } from '../types.ts';

export interface KeepDeps {
  db: Database;
  agents: AgentRegistry;
}

/** Keeps a case, and returns its id. See `Cases.keep`. */
export async function keep(deps: KeepDeps, given: NewCase, by: string): Promise<string> {
  const { threadId, dataset, expected } = given;
  const { tags = [], ...labels } = readLabels(given);
  if (expected !== undefined) readExpected(expected);
  const { tenantId } = await readThread(deps.db, threadId);
  const source = await sourceOf(deps, given);
  const p = { ...source, dataset, thread_id: threadId, tags, by, ...omitUndefined({ expected, ...labels }) };
  const tenant = deps.db.tenant ?? tenantId ?? defaultTenant;
  const { id, kept } = await keepCase(deps.db, tenant, newId('case'), p as unknown as JsonObject);
  if (kept) return id;
  throw new LanefoldError('case_exists', `Dataset ${dataset} has this source already, as case ${id}.`, {
    hint: 'Nothing was written. Update that case, or keep it in another dataset.',
    details: { case_id: id },
  });
}

/** What a case stores of its source. */
async function sourceOf(deps: KeepDeps, { threadId, runId, llmCallId }: NewCase) {
  if ((runId === undefined) === (llmCallId === undefined))
    throw invalidCase(
      runId === undefined ? 'runId' : 'llmCallId',
      'must be given, and not together with the other one',
    );
  const kind = runId === undefined ? 'call' : 'run';
  const callId = llmCallId ?? (await callOfRun(deps.db, threadId, runId!));
  const { call, agent, messages, verified, recorded } = await readSentCall(deps, threadId, callId);
  const request = (await readRequest(deps.db, threadId, call.run_id))!;
  if (!verified || messages.length === 0)
    throw unverified(callId, messages.length === 0 ? 'not_logged' : unverifiedReason(call.refs, agent));
  const { handoffs, asked } = (request.options ?? {}) as RunOptions;
  if (kind === 'call' && call.context_ref !== request.context_ref) throw unverified(callId, 'question_of_strategy');
  if (kind === 'call' && handoffs) throw unverified(callId, 'handed_over');
  return {
    kind,
    run_id: call.run_id,
    llm_call_id: callId,
    seq: (kind === 'run' ? request.user_seq! : call.seq) - 1,
    context_ref: kind === 'run' ? request.asked_in : request.context_ref,
    context_hash: recorded,
    agent: asked?.agent ?? call.agent,
    model: asked?.model ?? request.model,
  };
}

/** The first call of a run that has ended. */
async function callOfRun(db: Database, threadId: string, runId: string): Promise<string> {
  assertId(runId, 'The run id');
  const request = await readRequest(db, threadId, runId);
  if (!request) throw runNotFound(threadId, runId);
  if (!request.ended) throw invalidCase('runId', `names run ${runId}, which has not ended`);
  const call = await firstCall(db, threadId, runId);
  if (call === undefined) throw invalidCase('runId', `names run ${runId}, which has no answer of a model`);
  return call;
}

const reasons = {
  transformed: 'a request transformer changed its messages, and the log does not have what it sent',
  output_contract: 'this process does not know its output contract; keep it in a process that has the agent',
  mismatch: 'the messages that the log gives have another hash than those that were sent',
  not_logged: 'the log does not have its messages; strategies log their questions with recordThoughts: true',
  question_of_strategy: 'its strategy asked it beside the conversation; keep the run instead',
  handed_over: 'its run was handed over, and the log does not say which agent made it; keep the run instead',
};

export const unverified = (callId: string, reason: keyof typeof reasons): LanefoldError =>
  new LanefoldError('case_unverified', `Call ${callId} cannot be a case: ${reasons[reason]}.`, {
    hint: 'Nothing was written. A case must ask exactly what was asked.',
    details: { reason },
  });
