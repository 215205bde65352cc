import { effectiveAgent } from '../../../agent/definition/apply-overrides.ts';
import { iterationLimit, type AgentRegistry } from '../../../agent/definition/registry.ts';
import type { Counting } from '../../../agent/models/counting.ts';
import type { FindUnattended } from '../../fleet/unattended.ts';
import type { Json } from '../../../agent/context/message.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { readRun } from '../../../database/store/run/read-run.ts';
import { readRunDetails } from '../../../database/store/run/read-run-details.ts';
import type { Run } from '../../../database/store/run/run.ts';
import { versionIn } from '../../../agent/definition/run-options.ts';
import { pricedByModel } from './cost.ts';
import type { SnapshotState } from './types.ts';

/** A run with its tool calls, inputs and limits. What the model sees is its lane's context: `contexts.project`. */
export interface RunSnapshot<RESULT = Json> extends Run<RESULT>, SnapshotState {}

export interface SnapshotDeps {
  db: Database;
  agents: AgentRegistry;
  counting: Counting;
  findUnattended: FindUnattended;
}

/** The current state of a run, or undefined. */
export async function readSnapshot(
  { db, agents: all, counting, findUnattended }: SnapshotDeps,
  threadId: string,
  id: string,
): Promise<RunSnapshot | undefined> {
  const run = await readRun(db, threadId, id);
  if (!run) return undefined;
  const mayNeedWorker = !run.finishedAt && run.status !== 'suspended';
  const [details, [unattended]] = await Promise.all([
    readRunDetails(db, threadId, id),
    mayNeedWorker ? findUnattended([{ threadId, runId: id }]) : [],
  ]);
  if (!details) return undefined;
  const agents = all.under(run.agent, versionIn(details.options));
  const known = agents.has(run.agent);
  const agent = known && tryOr(() => effectiveAgent(agents, agents.get(run.agent), details.config, details.options));
  const selection = details.options?.selection ?? null;
  const executing = selection?.strategy ?? run.strategy;
  const machine = agents.strategies.has(executing) ? agents.strategies.find(executing) : undefined;
  return {
    ...(await pricedByModel(counting, run)),
    question: details.question,
    selection,
    phase: details.phase,
    callId: details.call_no === null ? null : `${run.id}.${details.call_no}`,
    maxIterations: agent ? (details.options?.handoffs?.at(-1)?.iteration ?? 0) + iterationLimit(agent, machine) : null,
    tools: agent ? [...(machine?.tools === false ? [] : agent.tools.keys())] : null,
    toolCalls: details.tool_calls ?? [],
    queuedInputs: details.queued_inputs,
    worker: details.worker && { id: details.worker.id, leaseUntil: new Date(details.worker.leaseUntil) },
    job: details.job,
    unattended: unattended ? { reason: unattended.reason, message: unattended.message } : null,
    output: details.output,
    details: typeof details.answer === 'string' ? (machine?.details?.(details.answer) ?? null) : null,
  };
}

/** Tools and transformers may have left this process since the run was accepted. */
function tryOr<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
