import { createHash } from 'node:crypto';
import { effectiveAgent, toolsOnly } from '../../../agent/definition/apply-overrides.ts';
import type { AgentRegistry, ReadyAgent } from '../../../agent/definition/registry.ts';
import { canonicalMessage, contextHash } from '../../../agent/context/canonical.ts';
import { withInstructions, type JsonObject, type Usage } from '../../../agent/context/message.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { assertId } from '../../../base/checks/ids.ts';
import type { Counting } from '../../../agent/models/counting.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { readCall, type CallRecord } from '../../../database/store/context/read-call.ts';
import { readThread } from '../../../database/store/log/read-thread.ts';
import { readRunDetails } from '../../../database/store/run/read-run-details.ts';
import { versionIn } from '../../../agent/definition/run-options.ts';
import { findPrefixBreak } from './prefix-break.ts';
import type { ModelCall } from './types.ts';
import { readSent, type SentRow } from '../../../database/store/context/read-context.ts';

interface CallDeps {
  db: Database;
  agents: AgentRegistry;
}

interface ModelCallDeps extends CallDeps {
  counting: Counting;
}

/**
 * Reads an answered call from the log and the trace, with the messages it sent. `agent` is the agent as the run used
 * it; undefined if this process lacks the agent, or something the run overrode it with.
 *
 * @throws LanefoldError `call_not_found`, `thread_not_found`, `thread_erased`
 */
export async function readSentCall({ db, agents }: CallDeps, threadId: string, llmCallId: string) {
  assertId(threadId, 'The thread id');
  assertId(llmCallId, 'The id of the model call');
  const call = await readCall(db, threadId, llmCallId);
  if (!call) {
    await readThread(db, threadId);
    throw new LanefoldError('call_not_found', `Thread ${threadId} has no answered model call ${llmCallId}.`, {
      hint: 'Pass the llm_call_id from the refs of an answer; a call that failed or has not ended has none.',
    });
  }
  const agent = await agentOf(db, agents, threadId, call);
  const rows = await readSent(db, threadId, llmCallId);
  const { messages, sources } = asSent(rows, call.refs, agent);
  const recorded = String(call.refs['context_hash'] ?? '');
  return { call, agent, rows, messages, sources, recorded, verified: contextHash(messages) === recorded };
}

/** @throws LanefoldError `call_not_found`, `thread_not_found`, `thread_erased` */
export async function readModelCall(deps: ModelCallDeps, threadId: string, llmCallId: string): Promise<ModelCall> {
  const { call, agent, rows, messages, sources, recorded, verified } = await readSentCall(deps, threadId, llmCallId);
  return {
    threadId,
    runId: call.run_id,
    llmCallId,
    contextRef: call.context_ref,
    agent: call.agent,
    model: call.model,
    window: (await deps.counting.windowOf(call.model)) ?? null,
    iteration: Number(call.refs['iteration'] ?? 0),
    seq: call.seq,
    messages,
    sources,
    contextHash: recorded,
    verified,
    unverifiedBecause: verified ? null : unverifiedReason(call.refs, agent),
    answer: call.payload,
    refs: call.refs,
    ...timing(call, llmCallId),
    tools:
      agent?.descriptors.map(({ name, description, inputSchema }) => ({
        name,
        description: description ?? null,
        inputSchema: inputSchema as JsonObject,
      })) ?? null,
    prefixBreak: (await findPrefixBreak(deps.db, threadId, call, rows)) ?? null,
    previousCallId: call.previous,
    nextCallId: call.next,
  };
}

/** The sent messages that the log has, with the instructions of the output contract if this process knows it. */
function asSent(rows: readonly SentRow[], refs: JsonObject, agent?: ReadyAgent) {
  const messages = rows.map(canonicalMessage);
  const sources: (number | null)[] = rows.map(({ seq }) => (seq < 0 ? null : seq));
  const instructions = agent?.output?.instructions;
  const [first, ...rest] = messages;
  if (!first || instructions === undefined || sha256(instructions) !== refs['output_hash'])
    return { messages, sources };
  const sent = withInstructions(first, instructions);
  return { messages: [...sent, ...rest], sources: [...(sent.length > 1 ? [null] : []), ...sources] };
}

async function agentOf(
  db: Database,
  all: AgentRegistry,
  threadId: string,
  call: CallRecord,
): Promise<ReadyAgent | undefined> {
  if (!all.has(call.agent)) return undefined;
  const details = await readRunDetails(db, threadId, call.run_id);
  const agents = all.under(call.agent, versionIn(details?.options));
  if (!agents.has(call.agent)) return undefined;
  try {
    const agent = effectiveAgent(agents, agents.get(call.agent), details?.config ?? null, details?.options ?? null);
    const strategy = details?.options?.selection?.strategy ?? call.strategy;
    return agents.strategies.find(strategy).tools ? agent : toolsOnly(agent, []);
  } catch {
    // this process no longer has a tool or transformer that the run was overridden with
    return undefined;
  }
}

/** Why the log does not reproduce a call's messages; see `ModelCall.unverifiedBecause`. */
export function unverifiedReason(
  refs: JsonObject,
  agent: ReadyAgent | undefined,
): NonNullable<ModelCall['unverifiedBecause']> {
  if (refs['transformed'] === true) return 'transformed';
  const { output_hash: contract } = refs;
  const known = agent?.output && sha256(agent.output.instructions) === contract;
  return contract !== undefined && !known ? 'output_contract' : 'mismatch';
}

function timing(call: CallRecord, callId: string) {
  const events = call.events ?? [];
  const started = events.findLast(({ kind, data }) => kind === 'llm_started' && data['call_id'] === callId);
  const completed = events.find(({ kind, data }) => kind === 'llm_completed' && data['call_id'] === callId);
  const completedAt = new Date(call.at);
  const startedAt = started ? new Date(started.at) : null;
  return {
    usage: (completed?.data['usage'] ?? null) as Usage | null,
    finishReason: (completed?.data['finish_reason'] ?? null) as string | null,
    startedAt,
    completedAt,
    durationMs: startedAt && completedAt.getTime() - startedAt.getTime(),
    failedAttempts: events
      .filter(({ kind }) => kind === 'llm_retry' || kind === 'llm_lost')
      .map(({ kind, at, data }) => ({ kind, at: new Date(at), data })),
  };
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
