import { databaseFunctions } from '../../../src/database/store/functions.ts';
import type { Body } from '../model/state.ts';
import type { Statement } from '../store.ts';

/** What may happen to a statement on its way. */
export const shares = {
  'request lost': 0.01,
  'answer lost': 0.012,
  'answered before it is executed': 0.004,
  'request slow': 0.012,
  repeated: 0.01,
};

/**
 * How often a worker is suspended between its last check of a lease and the write, and may lose the run meanwhile: more
 * often before writes that are rare.
 */
export function frozenShare(items: readonly Body[]): number {
  if (items.length > 1 || items.some((item) => item['function'] === 'finish_run')) return 0.3;
  return items.some((item) => item['function'] === 'record_tool_call') ? 0.06 : 0.02;
}

/** Statements about what is not simulated: they find nothing. */
export const notSimulated = new Set([
  'record_versions',
  'find_tools',
  'find_agent_queues',
  'find_unknown_agents',
  'awaited_places',
  'unlined_runs',
  'find_wait_tasks',
  'find_untold_children',
  'find_open_run_waits',
  'take_eval_threads',
  'open_evals',
  'take_monitors',
  'blocked_webhooks',
  'queues_with_events',
  'removed_webhooks',
]);

/** What a statement answers that finds nothing: a function that returns a value has a row nevertheless. */
export const nothing = (name: string): Body[] =>
  databaseFunctions[name as keyof typeof databaseFunctions]?.returns === 'value' ? [{ result: null }] : [];

/** The renewals that a report of a worker rides on, and the report, which is executed with them. */
export const withReport = ([leases, leaseMs, , report]: readonly unknown[], worker: string): Statement => ({
  name: 'renew_leases',
  text: 'select thread_id, run_id, lost, cancel_requested, renewed from lanefold.renew_leases($1, $2)',
  values: [leases, leaseMs],
  report: toReport(worker, report),
});

export const toReport = (worker: string, report: unknown): Statement => ({
  name: 'report_worker',
  text: 'select lanefold.report_worker($1, $2)',
  values: [worker, report],
});

/** Statements whose repetition has an effect of its own; nothing between client and database repeats them. */
const notRepeated = new Set(['use_limits', 'find_jobs']);
const keyless = (item: Body) => item['function'] === 'append_entries' && item['args'][1].op_id === undefined;
export const claims = (item: Body) => item['function'] === 'claim_run';

/** Of all statements of the product, those whose callers send them again themselves. */
const repeated = new Set([
  'attempts',
  'suspend_run',
  'release_run',
  'delay_run',
  'decide_tool_call',
  'cancel_run',
  'finish_cancelled_run',
  'renew_leases_and_report',
  'queue_runs_again',
  'expire_waits',
  'end_wait',
  'end_child',
  'end_wait_task',
  'told_parent',
]);

/**
 * Whether the network may execute a statement, with these calls in it, a second time.
 *
 * @param all whether all statements of the product are simulated
 */
export const mayRepeat = (name: string, items: readonly Body[], all: boolean): boolean =>
  (all ? repeated.has(name) : !notRepeated.has(name)) && !items.some((item) => keyless(item) || claims(item));
