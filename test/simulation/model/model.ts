import { fromPostgres } from '../../../src/database/postgres/errors.ts';
import type { SnapshotRow } from '../../../src/ops/chaos/recording/conclude.ts';
import type { Statement, Store } from '../store.ts';
import { claimRun, endExpired } from './claim.ts';
import { commitStep } from './commit.ts';
import { enqueueRun } from './enqueue.ts';
import { cancelled, cancelRun, finishRun } from './finish.ts';
import { createFork, forkSource } from './forks.ts';
import { enqueueInput } from './inputs.ts';
import { contextAt } from './lanes.ts';
import { markSeen, recordToolCall, releaseRun, renewLease, queueRunAgain } from './leases.ts';
import { currentLimits, idleAccounts, newLimits, useLimits } from './limits.ts';
import { appendEntries } from './log.ts';
import { applyOperation } from './operations.ts';
import { noRun, refuse, Refusal } from './refusal.ts';
import { snapshot } from './snapshot.ts';
import { newThread, runOf, toLimitedRun, type Body, type Run, type Thread } from './state.ts';
import { findExpiredRuns, findExpiredWaits, findQueued, findStranded, oldestDue } from './sweep.ts';
import { decideToolCall, expireWaits, suspendRun } from './waits.ts';
import { Workers } from './workers.ts';

/**
 * The functions of the database in memory: what each of them promises, without how it is stored. A test holds them to
 * the SQL. Left out are prompts of agents, versions, configuration, state, large texts, child runs and
 * webhooks.
 */
export class Model implements Store {
  readonly threads = new Map<string, Thread>();
  readonly limits = newLimits();
  readonly workers: Workers = new Workers();
  readonly inside = this;

  execute(at: number, { name, values }: Statement): Body[] {
    if (name === 'attempts') return (JSON.parse(values[0] as string) as Body[]).map((call) => this.#attempt(at, call));
    try {
      return this.#query(at, name, values.map(parsed));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      throw fromPostgres(Object.assign(new Error(error.message), { code: error.code }));
    }
  }

  restarted(at: number): void {
    this.workers.restartedAt = at;
  }

  snapshot(threadId: string): SnapshotRow {
    return snapshot(this.threads.get(threadId)!);
  }

  trace(threadId: string): string[] {
    return this.threads.get(threadId)!.events.map(({ run_id, kind }, n) => `${n} ${run_id} ${kind}`);
  }

  unfinished(): number {
    return [...this.threads.values()].flatMap(({ runs }) => runs).filter(({ finished_at }) => finished_at === null)
      .length;
  }

  #attempt(at: number, { thread_id, function: name, args }: Body): Body {
    try {
      return { result: this.#call(at, name, thread_id, args), locked: false, error: null };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { result: null, locked: false, error: { code: error.code, message: error.message, hint: '' } };
    }
  }

  /** The functions that share statements. */
  #call(at: number, name: string, threadId: string, args: Body): Body {
    if (name === 'enqueue_run') return enqueueRun(this.#created(at, threadId, args[0]), at, args[0]);
    if (name === 'commit_step' && !this.threads.has(threadId)) refuse('LF012');
    const thread = this.#thread(threadId);
    const [a, b, c, d, e, f] = args as unknown as Body[string][];
    switch (name) {
      case 'append_entries':
        return appendEntries(thread, a, b);
      case 'claim_run':
        return claimRun(thread, at, [a, b, c], this.workers);
      case 'commit_step':
        return commitStep(thread, at, a, b, c, d, e);
      case 'record_tool_call':
        return recordToolCall(thread, at, [a, b, c, d, e, f]);
      case 'enqueue_input':
        return enqueueInput(thread, a);
      case 'finish_run':
        return finishRun(thread, at, a, b, c);
      default:
        throw new Error(`The model lacks the function ${name}.`);
    }
  }

  #query(at: number, name: string, values: Body[string][]): Body[] {
    const [a, b, c, d, e] = values;
    switch (name) {
      case 'cancel_run':
        return [{ result: cancelRun(this.#thread(a), at, b, c) }];
      case 'finish_cancelled_run':
        return [{ result: finishRun(this.#thread(a), at, b, null, cancelled) }];
      case 'fail_expired': {
        const run = this.#run(a, b);
        const due =
          run.finished_at === null && run.started_at === null && run.expires_at !== null && run.expires_at <= at;
        return [{ result: due ? endExpired(this.#thread(a), at, run) : null }];
      }
      case 'apply_operation':
        return [{ result: applyOperation(this.#thread(a), b, c, d, e) }];
      case 'suspend_run':
        return [{ result: suspendRun(this.#thread(a), at, b, c, d, e) }];
      case 'decide_tool_call':
        return [{ result: decideToolCall(this.#thread(a), at, b, c, d, e) }];
      case 'expire_waits':
        return [{ result: expireWaits(this.#thread(a), at, b, c) }];
      case 'release_run':
        return releaseRun(this.#thread(a), at, b, c, d);
      case 'report_worker':
        this.workers.report(at, a, b);
        return [{ result: null }];
      case 'loss_cause':
        return [{ result: this.workers.lossCause(at, a, Date.parse(b), c) }];
      case 'renew_leases':
        return (a as Body[]).flatMap((held) => renewLease(this.threads.get(held['thread_id']), at, held, b));
      case 'queue_runs_again':
        return (a as Body[]).flatMap((run) => queueRunAgain(this.threads.get(run['thread_id']), at, run, b));
      case 'mark_jobs_seen':
        for (const run of a as Body[]) markSeen(this.threads.get(run['thread_id']), at, run);
        return [];
      case 'lane_context_at':
        return contextAt(this.#thread(a), b as unknown as string, Number(c)).map((row) => ({ ...row }));
      case 'fork_source':
        return [{ result: forkSource(this.#thread(a), b) }];
      case 'create_fork':
        return [{ result: createFork(this.threads, at, a, b) }];
      case 'name_key':
        return [{ key: a }];
      case 'use_limits':
        return (a as Body[]).map((call) => ({ result: useLimits(this.limits, at, call) }));
      case 'limit_usage':
        return [{ reserved: this.limits.reserved }];
      case 'drop_kept_events':
        return [{ result: 0 }];
      case 'drop_idle_buckets':
        return [{ result: null }];
      case 'count_activity':
        // charts over time are not part of the model: there is never more to count
        return [{ result: false }];
      case 'current_limits':
        return currentLimits();
      case 'holding_limit_accounts':
        // no run waits for the limit of a simulation
        return [];
      case 'idle_limit_accounts':
        return idleAccounts(this.limits, at);
      case 'limited_run':
        return [toLimitedRun(this.#run(a, b))];
      case 'find_oldest_due':
        return [{ since: new Date(oldestDue(this.threads.values(), at) - a).toISOString() }];
      case 'find_stranded_runs':
        return findStranded(this.threads.values(), at, [a, b], values[10]);
      case 'find_queued_runs':
        return findQueued(this.threads.values(), at, [a, e], values[6]);
      case 'find_expired_waits':
        return findExpiredWaits(this.threads.values(), at);
      case 'find_expired_runs':
        return findExpiredRuns(this.threads.values(), at);
      default:
        throw new Error(`The model lacks the statement ${name}.`);
    }
  }

  #thread(id: string): Thread {
    return this.threads.get(id) ?? refuse('LF001');
  }

  #run(threadId: string, id: string): Run {
    return runOf(this.#thread(threadId), id) ?? refuse(noRun);
  }

  #created(at: number, id: string, p: Body): Thread {
    if (!this.threads.has(id) && p['create_thread'] === true) this.threads.set(id, newThread(id, at));
    return this.#thread(id);
  }
}

const parsed = (value: unknown): Body[string] =>
  typeof value === 'string' && /^[[{]/.test(value) ? JSON.parse(value) : value;
