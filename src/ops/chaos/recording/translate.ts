import { createHash } from 'node:crypto';
import { canonicalMessage, contextHash } from '../../../agent/context/canonical.ts';
import type { Message } from '../../../agent/context/message.ts';
import type { Calls, OperationName, SnapshotEntry } from '../../history/operation.ts';

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
export function translate(name: string, threadId: string, args: Args): Translated[] {
  const as = <Name extends OperationName>(
    f: Name,
    call: Calls[Name]['call'],
    answer: TranslatedTo<Name>['answer'],
  ): Translated[] => [{ f, thread_id: threadId, call, answer } as Translated];
  const [first, second, third, fourth, fifth, sixth] = args;
  switch (name) {
    case 'append_entries': {
      const values = (first as Result[]).map(({ refs }) => valueOf(refs));
      const { op_id: key, expected_rev } = second as Result;
      if (values.includes(null)) return [];
      const call = {
        values: values as string[],
        ...(key && { key }),
        ...(expected_rev !== undefined && { expected_rev }),
      };
      return as('append', call, ({ first_seq, rev, duplicate }) => ({ first_seq, rev, duplicate }));
    }
    case 'enqueue_run': {
      const { request_id, run_id, claim, busy } = first as Result;
      const direct = claim ? translate('claim_run', threadId, [run_id, 1, claim]) : [];
      return [
        ...as('enqueue', { request_id, interrupts: busy === 'interrupt' }, (result) => ({
          run_id: result['run_id'],
          duplicate: result['duplicate'],
        })),
        ...direct.map(
          (one) => ({ ...one, answer: (result: Result) => one.answer(result['claim'] ?? {}) }) as Translated,
        ),
      ];
    }
    case 'claim_run': {
      const { worker_id, lease_ms } = third as Result;
      return as('claim', { run_id: first, worker_id, lease_ms }, toClaim);
    }
    case 'commit_step': {
      const body = fifth as Result;
      const call = {
        run_id: first,
        lease: second,
        step: third,
        lease_ms: fourth,
        entries: body['entries']?.length ?? 0,
        answers: ((body['entries'] ?? []) as Result[]).filter(({ role }) => role === 'assistant').length,
      };
      const ends = body['finish'] !== undefined;
      return as('commit', { ...call, ends, gives_up: body['handoff'] !== undefined }, (result) => ({
        status: result['status'],
        ...(result['seq'] !== undefined && { seq: result['seq'] }),
        // also a handoff of a run that is to be cancelled, which writes nothing
        duplicate: result['duplicate'] === true || result['step'] === third,
        finished: result['finished'] === true,
      }));
    }
    case 'record_tool_call': {
      const { status, outcome } = sixth as Result;
      const call = { run_id: first, lease: second, lease_ms: third, round: fourth, index: fifth };
      return as('record', { ...call, status, outcome: digest(outcome) }, () => ({}));
    }
    case 'finish_run':
      return as('finish', { run_id: first, lease: second }, toFinish);
    case 'finish_cancelled_run':
    case 'fail_expired':
    case 'fail_unknown_agent':
    case 'claim_failed':
      return as('finish', { run_id: first, lease: null }, toFinish);
    case 'suspend_run':
    case 'release_run':
      return as('release', { run_id: first, lease: second }, (result) => ({
        released: result !== null && result['cancel_requested'] !== true,
      }));
    case 'delay_run':
      return as('release', { run_id: first, lease: second }, (result) => ({ released: result['delayed'] === true }));
    case 'enqueue_input':
      return as('steer', { input_id: first.id }, ({ run_id, status }) => ({ run_id, status }));
    case 'cancel_run':
      return as('cancel', { run_id: first }, ({ accepted, status, finished }) => ({
        ...{ accepted, status, finished: finished === true },
      }));
    case 'decide_tool_call':
      return as(
        'decide',
        { run_id: first, round: second, index: third, decision: fourth.decision },
        ({ decision }) => ({
          decision,
        }),
      );
    case 'apply_operation':
      return as('operate', { op_id: first }, ({ op_status, seq }) => ({ op_status, seq: seq ?? null }));
    case 'create_fork': {
      const { parent_thread_id, fork_seq } = first as Result;
      return as('fork', { parent_thread_id, fork_seq }, ({ rev }) => ({ rev }));
    }
    default:
      return [];
  }
}

const toFinish = (result: Result | null): Calls['finish']['answer'] => ({
  finished: result?.['finished'] === true,
  status: result?.['status'] ?? null,
});

function toClaim(result: Result): Calls['claim']['answer'] {
  if (!result['claimed']) return { claimed: false, status: result['status'] ?? null };
  const { lease, context_ref, user_seq, context, state, calls } = result;
  return {
    ...{ claimed: true, lease, context_ref, user_seq: user_seq ?? null },
    context_hash: contextHash((context as Partial<Record<keyof Message, unknown>>[]).map(canonicalMessage)),
    round: calls ? (state?.round ?? null) : null,
    calls: ((calls ?? []) as Result[]).map(({ call_index: index, status, outcome }) => ({
      ...{ index, status, outcome: digest(outcome) },
    })),
  };
}

/** The entries of a thread as the store's `entries` returns them. */
export const toEntry = (row: Result): SnapshotEntry => ({
  ...{ seq: Number(row['seq']), kind: row['kind'], context_ref: row['context_ref'], role: row['role'] },
  ...{ op_id: row['op_id'], run_id: row['run_id'], request_id: row['request_id'] },
  is_anchor: row['kind'] === 'ai_context_operation' && row['payload'].operation.type === 'replace',
  ...{ payload: row['payload'], refs: row['refs'], value: valueOf(row['refs']) },
});

/** Tells one outcome of a tool from another. */
const digest = (outcome: { content?: string } | null | undefined): string | null =>
  outcome
    ? createHash('sha256')
        .update(outcome.content ?? '')
        .digest('hex')
        .slice(0, 16)
    : null;
