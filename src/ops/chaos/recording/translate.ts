import { createHash } from 'node:crypto';
import { canonicalMessage, contextHash } from '../../../agent/context/canonical.ts';
import type { Message } from '../../../agent/context/message.ts';
import type { Calls, OperationName, SnapshotEntry } from '../../history/event.ts';

/** What the database returns: its keys depend on the function. */
type Result = Record<string, any>; // eslint-disable-line @typescript-eslint/no-explicit-any

type Args = readonly any[]; // eslint-disable-line @typescript-eslint/no-explicit-any

/** An operation that a statement carries out. */
export type Translated = { [Name in OperationName]: TranslatedTo<Name> }[OperationName];

interface TranslatedTo<Name extends OperationName> {
  f: Name;
  thread_id: string;
  call: Calls[Name]['call'];
  /** What the result of the function tells about it. */
  answer: (result: Result) => Calls[Name]['answer'];
}

/** The unique name that a caller gives an entry in its refs, so that a history can follow it. */
export const valueOf = (refs: unknown): string | null =>
  typeof (refs as Result | null)?.['value'] === 'string' ? (refs as { value: string }).value : null;

/** A call of a database function, with the arguments after the thread id, as operations of a history. */
export const translate = (name: string, threadId: string, args: Args): Translated[] =>
  (translations[name]?.(args) ?? []).map((one) => ({ ...one, thread_id: threadId }) as Translated);

type Named = { [Name in OperationName]: Omit<TranslatedTo<Name>, 'thread_id'> }[OperationName];

const as = <Name extends OperationName>(
  f: Name,
  call: Calls[Name]['call'],
  answer: TranslatedTo<Name>['answer'],
): Named[] => [{ f, call, answer } as Named];

const endsOutside = ([run_id]: Args) => as('finish', { run_id, lease: null }, toFinish);

const released = ([run_id, lease]: Args) =>
  as('release', { run_id, lease }, (result) => ({
    released: result !== null && result['cancel_requested'] !== true,
  }));

const claimed = ([run_id, , { worker_id, lease_ms }]: Args) => as('claim', { run_id, worker_id, lease_ms }, toClaim);

/** A request, and the claim that comes with it; `of`: where a result tells about both. */
const enqueued = (
  { request_id, run_id, claim, busy }: Result,
  of: (result: Result) => Result = (result) => result,
): Named[] => {
  const request = as('enqueue', { request_id, interrupts: busy === 'interrupt' }, (result) => {
    const { run_id: id, duplicate } = of(result);
    return { run_id: id, duplicate };
  });
  const direct = claim ? claimed([run_id, 1, claim]) : [];
  return [
    ...request,
    ...direct.map((one) => ({ ...one, answer: (r: Result) => one.answer(of(r)['claim'] ?? {}) }) as Named),
  ];
};

/** By database function: the operations that a call of it with these arguments is. */
const translations: Record<string, (args: Args) => Named[]> = {
  append_entries([entries, { op_id: key, expected_rev }]) {
    const values = (entries as Result[]).map(({ refs }) => valueOf(refs));
    if (values.includes(null)) return [];
    const call = {
      values: values as string[],
      ...(key && { key }),
      ...(expected_rev !== undefined && { expected_rev }),
    };
    return as('append', call, ({ first_seq, rev, duplicate }) => ({ first_seq, rev, duplicate }));
  },
  enqueue_run: ([request]) => enqueued(request),
  // also without a run of its own, it may end the active one
  branch: ([{ op_id, busy, run }]) =>
    enqueued({ ...run, request_id: op_id, busy }, ({ run: own, duplicate }) => own ?? { run_id: op_id, duplicate }),
  claim_run: claimed,
  commit_step([run_id, lease, step, lease_ms, body]) {
    const entries: Result[] = body['entries'] ?? [];
    const call = {
      run_id,
      lease,
      step,
      lease_ms,
      entries: entries.length,
      answers: entries.filter(({ role }) => role === 'assistant').length,
      ends: body['finish'] !== undefined,
      gives_up: body['handoff'] !== undefined,
    };
    return as('commit', call, (result) => ({
      status: result['status'],
      ...(result['seq'] !== undefined && { seq: result['seq'] }),
      // also a handoff of a run that is to be cancelled, which writes nothing
      duplicate: result['duplicate'] === true || result['step'] === step,
      finished: result['finished'] === true,
    }));
  },
  record_tool_call([run_id, lease, lease_ms, round, index, { status, outcome }]) {
    const call = { run_id, lease, lease_ms, round, index, status, outcome: digest(outcome) };
    return as('record', call, () => ({}));
  },
  finish_run: ([run_id, lease]) => as('finish', { run_id, lease }, toFinish),
  finish_cancelled_run: endsOutside,
  fail_expired: endsOutside,
  fail_unknown_agent: endsOutside,
  claim_failed: endsOutside,
  suspend_run: released,
  release_run: released,
  delay_run: ([run_id, lease]) =>
    as('release', { run_id, lease }, (result) => ({ released: result['delayed'] === true })),
  enqueue_input: ([{ id }]) => as('steer', { input_id: id }, ({ run_id, status }) => ({ run_id, status })),
  cancel_run: ([run_id]) =>
    as('cancel', { run_id }, ({ accepted, status, finished }) => ({ accepted, status, finished: finished === true })),
  decide_tool_call: ([run_id, round, index, { decision: wanted }]) =>
    as('decide', { run_id, round, index, decision: wanted }, ({ decision }) => ({ decision })),
  apply_operation: ([op_id]) => as('operate', { op_id }, ({ op_status, seq }) => ({ op_status, seq: seq ?? null })),
  create_fork: ([{ parent_thread_id, fork_seq }]) => as('fork', { parent_thread_id, fork_seq }, ({ rev }) => ({ rev })),
};

const toFinish = (result: Result | null): Calls['finish']['answer'] => ({
  finished: result?.['finished'] === true,
  status: result?.['status'] ?? null,
});

function toClaim(result: Result): Calls['claim']['answer'] {
  if (!result['claimed']) return { claimed: false, status: result['status'] ?? null };
  const { lease, context_ref, user_seq, context, state, calls } = result;
  return {
    claimed: true,
    lease,
    context_ref,
    user_seq: user_seq ?? null,
    context_hash: contextHash((context as Partial<Record<keyof Message, unknown>>[]).map(canonicalMessage)),
    round: calls ? (state?.round ?? null) : null,
    calls: ((calls ?? []) as Result[]).map(({ call_index: index, status, outcome }) => ({
      index,
      status,
      outcome: digest(outcome),
    })),
  };
}

/** The entries of a thread as the store's `entries` returns them. */
export const toEntry = (row: Result): SnapshotEntry => ({
  seq: Number(row['seq']),
  kind: row['kind'],
  context_ref: row['context_ref'],
  role: row['role'],
  op_id: row['op_id'],
  run_id: row['run_id'],
  request_id: row['request_id'],
  is_anchor: row['kind'] === 'ai_context_operation' && row['payload'].operation.type === 'replace',
  payload: row['payload'],
  refs: row['refs'],
  value: valueOf(row['refs']),
});

/** Tells one outcome of a tool from another. */
const digest = (outcome: { content?: string } | null | undefined): string | null =>
  outcome
    ? createHash('sha256')
        .update(outcome.content ?? '')
        .digest('hex')
        .slice(0, 16)
    : null;
