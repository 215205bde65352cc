import type { EndedJob, Outcome } from './end-jobs.ts';

/** What BullMQ asks for with a statement: a function of its own, or a file that it keeps a statement in. */
export type BullCall =
  | 'move_to_active'
  | 'move_to_completed'
  | 'move_to_completed_fetch'
  | 'move_to_failed'
  | 'move_to_failed_fetch'
  | 'has_waiting_job'
  | 'next_delay'
  | 'next_signal'
  | 'extend_locks';

// eslint-disable-next-line regexp/no-super-linear-backtracking -- reads statements that BullMQ has in its package
const called = /\bselect\s+(?:[\w, *]+\sfrom\s+)?(\w+)\s*\(/i;
/* eslint-disable regexp/no-super-linear-move -- the same */
const withoutFunction: [BullCall, RegExp][] = [
  ['has_waiting_job', /^\s*exists\(\s*select 1 from job where queue = \$1 and state = 'waiting'\s*\)/im],
  ['extend_locks', /^\s*update job\s+set locked_until_ms = /im],
];
/* eslint-enable regexp/no-super-linear-move */
const calls = new Map<string, string | undefined>();

/** What a statement of BullMQ's asks for; any other text has another name or none. BullMQ sends few texts. */
export function bullCall(text: string): BullCall | undefined {
  if (!calls.has(text))
    calls.set(text, withoutFunction.find(([, part]) => part.test(text))?.[0] ?? called.exec(text)?.[1]);
  return calls.get(text) as BullCall | undefined;
}

/** The end of a job that BullMQ asks for. */
export interface End {
  outcome: Outcome;
  job: EndedJob;
  /** Arguments of `move_to_active` for the next job. */
  next: unknown[] | undefined;
}

/** Reads the arguments of `move_to_completed`, `move_to_failed` and the same with `_fetch`; undefined if the job is not kept. */
export function endOf(call: BullCall, values: unknown[]): End | undefined {
  const [queue, id, token] = values as [string, string, string];
  const outcome = call.startsWith('move_to_failed') ? 'failed' : 'completed';
  const result =
    outcome === 'completed'
      ? { value: values[3] as string }
      : { reason: values[3] as string | null, stacktrace: values[4] as string | null };
  const [at, removes, keepAge, keepCount, ...next] = values.slice(outcome === 'completed' ? 4 : 5);
  if (removes === true || keepAge !== null || keepCount !== null) return undefined;
  return {
    ...{ outcome, job: { queue, id, token, at: at as number, ...result } },
    next: call.endsWith('_fetch') ? [queue, token, ...next] : undefined,
  };
}
