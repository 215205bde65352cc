import type { ReadyAgent } from '../../agent/definition/registry.ts';
import { omitUndefined } from '../../base/common/json.ts';
import type { JsonObject } from '../../agent/context/message.ts';
import type { Claim } from '../../database/store/run/claim-run.ts';
import { idsOf } from '../../database/store/tenant/tenant-settings.ts';
import { hasStarted, readChildren } from '../../database/store/wait/child-runs.ts';
import { childRequestId, type StoredChild } from '../../database/store/wait/wait-tasks.ts';
import { type AskedOfChild, findEarlierChildren } from '../../database/store/wait/earlier-children.ts';
import type { ChildRequest, RunOfAgent, WaitRequest } from '../../agent/tools/wait.ts';
import { errorMessage, type ToolOutcome } from '../../agent/tools/outcome.ts';
import type { RunDependencies } from './dependencies.ts';
import type { HeldRun } from './held-run.ts';
import { readRun } from '../../database/store/run/read-run.ts';

interface Round {
  round: number;
  /** How many calls it has; they share what is left of the run's budget. */
  calls: number;
  /** `seq` of the message that makes them. */
  callSeq(): number;
}

/** What the calls of one round wait for, and the runs they start. */
export class RoundWaits {
  /** What is to be recorded for each call, as `_write_wait` takes it. */
  readonly recorded = new Map<number, JsonObject>();
  #started: Promise<number> | undefined;
  #more = 0;
  #share: Promise<number> | undefined;

  constructor(
    private readonly deps: RunDependencies,
    private readonly run: HeldRun,
    private readonly agent: ReadyAgent,
    private readonly claim: Claim,
    private readonly round: Round,
  ) {}

  /** The outcome of a call that returned a wait: it waits, or it has started a run, or it cannot do so. */
  async accept(index: number, outcome: ToolOutcome): Promise<ToolOutcome> {
    const wait = outcome.wait!;
    const { attempts, durationMs } = outcome;
    if ('start' in wait) return { ...(await this.#start(index, wait)), attempts, durationMs };
    if ('run' in wait && !(await hasStarted(this.deps.db, this.run.threadId, wait.run)))
      return {
        ...refused('unknown_run', `No call of this thread has started the run ${wait.run.id}`),
        attempts,
        durationMs,
      };
    this.recorded.set(index, bodyOf(wait));
    return outcome;
  }

  async #start(index: number, wait: Extract<WaitRequest, { start: ChildRequest }>) {
    const { agents, db } = this.deps;
    const { agent, context = 'none', ...task } = wait.start;
    const { parent } = this.claim.options ?? {};
    const depth = (parent?.depth ?? 0) + 1;
    const maxDepth = Math.min(parent?.max_depth ?? Infinity, depth - 1 + this.agent.maxDepth);
    if (!agents.has(agent)) return refused('unknown_agent', `The agent ${agent} does not exist here`);
    if (depth > maxDepth) return refused('too_deep', `Agents may call each other only ${maxDepth} deep`);
    this.#started ??= readChildren(db, this.run).then(({ started }) => started);
    // counted before the pause, so that the calls of a round cannot pass the limit together
    const before = this.#more++;
    if ((await this.#started) + before >= this.agent.maxChildren)
      return refused('too_many_agents', `A run may start only ${this.agent.maxChildren} runs`);
    const fork =
      context === 'fork' ? { seq: this.round.callSeq() - 1, context_ref: this.claim.context_ref } : undefined;
    const given = { model: task.model, max_iterations: task.maxIterations, tool_context: task.toolContext, fork };
    const asked: AskedOfChild = { agent, input: task.input, ...omitUndefined(given) };
    const earlier = await earlierChild(this.deps, this.run, this.claim, { round: this.round.round, index }, asked);
    // its tools would act, and its cost would escape the eval's
    if (!earlier && this.claim.options?.eval)
      return refused('not_safe', 'The run of an eval starts no other runs, and the original run has not asked this');
    const maxCost = earlier ? 0 : await this.#costOf(task.maxCost ?? agents.get(agent).maxCost);
    if (maxCost === 0 && !earlier) return refused('budget_exhausted', 'The budget of the run is used up');
    const child = earlier ?? (await this.#idsOf(index));
    const request: StoredChild = {
      ...asked,
      ...omitUndefined({
        max_cost: maxCost,
        limit_keys: this.claim.options?.limit_keys,
        caller: this.claim.caller ?? undefined,
      }),
      parent: {
        thread_id: this.run.threadId,
        run_id: this.run.runId,
        round: this.round.round,
        index,
        depth,
        root_thread_id: parent?.root_thread_id ?? this.run.threadId,
        root_run_id: parent?.root_run_id ?? this.run.runId,
        max_depth: maxDepth,
      },
    };
    const named = { agent, thread_id: child.threadId, run_id: child.id };
    const started = { ...named, ...(earlier ? { earlier: true } : {}) };
    const timeout = wait.kind === 'run' ? omitUndefined({ timeout_ms: wait.timeoutMs }) : {};
    this.recorded.set(index, {
      kind: wait.kind,
      child: started,
      request: request as unknown as JsonObject,
      ...timeout,
    });
    if (wait.kind === 'run') return { status: 'waiting' as const, content: '' };
    return { status: 'ok' as const, content: JSON.stringify(named), refs: { child_run: named } };
  }

  /** Derived from the call, so that the same call starts the same run. */
  async #idsOf(index: number): Promise<RunOfAgent> {
    const ids = await idsOf(this.deps.db, this.claim.tenant_id);
    return ids.own(childRequestId(this.run.runId, this.round.round, index));
  }

  /** A child may spend its own limit, but at most an equal share of what its parent had left before the round. */
  async #costOf(own: number | undefined): Promise<number | undefined> {
    const { budget } = this.run;
    if (!budget) return own;
    this.#share ??= budget.left().then((left) => left / this.round.calls);
    const cost = Math.min(own ?? Infinity, await this.#share);
    budget.give(cost);
    return cost;
  }
}

function bodyOf(wait: Exclude<WaitRequest, { start: ChildRequest }>): JsonObject {
  if ('run' in wait) {
    const { threadId, id } = wait.run;
    return omitUndefined({ kind: 'run', child: { thread_id: threadId, run_id: id }, timeout_ms: wait.timeoutMs });
  }
  if ('until' in wait) return { kind: 'time', until: wait.until.toISOString() };
  if (wait.kind === 'time') return { kind: 'time', timeout_ms: wait.timeoutMs };
  return omitUndefined({ kind: 'event', event: wait.event, timeout_ms: wait.timeoutMs });
}

const refused = (type: string, message: string) => errorMessage({ type, message, retryable: false });

/**
 * A run that repeats another one finds the runs that one has started: the run that has answered the same request;
 * undefined if none has. A fork of the caller's lane has another context now, so it is asked again.
 */
async function earlierChild(
  { db }: Pick<RunDependencies, 'db'>,
  { threadId }: Pick<HeldRun, 'threadId'>,
  { options }: Pick<Claim, 'options'>,
  call: { round: number; index: number },
  asked: AskedOfChild,
): Promise<RunOfAgent | undefined> {
  const { retry_of: runId, retry_of_thread: elsewhere, fresh_children: fresh } = options ?? {};
  if (runId === undefined || fresh || asked.fork) return undefined;
  for (const child of await findEarlierChildren(db, { threadId: elsewhere ?? threadId, runId }, call, asked)) {
    const run = await readRun(db, child.threadId, child.id);
    if (run?.status === 'completed' && run.result !== null) return child;
  }
  return undefined;
}
