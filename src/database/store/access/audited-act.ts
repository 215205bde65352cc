import { snakeKeys } from '../../../base/common/case.ts';
import type { ActingFunction } from '../../../base/operations/operation.ts';
import type { Database } from '../../postgres/pool.ts';
import { writeAudit, writtenAudit, type AuditedAction } from './audit.ts';

/**
 * The functions whose calls can be audited, and when such a call has changed something: a condition on `act`, its row as
 * JSON.
 */
const changed = {
  apply_operation: "act #>> '{result,status}' not in ('duplicate', 'stale')",
  cancel_run: "act #>> '{result,accepted}' = 'true'",
  change_config: 'true',
  create_fork: "act #>> '{thread,duplicate}' = 'false'",
  decide_tool_call: "act #>> '{result,duplicate}' = 'false'",
  delete_stream: "act ->> 'answer' = 'deleted'",
  end_wait: "act #>> '{result,ended}' = 'true'",
  enqueue_run: "act #>> '{result,duplicate}' = 'false'",
  erase_conversation: 'true',
  erase_schedules: 'true',
  import_thread: "act #>> '{result,duplicate}' = 'false'",
} as const satisfies Record<ActingFunction, string>;

/** An action, and the function whose call carries it out. */
export interface AuditedAct {
  action: AuditedAction;
  carriedOutBy: ActingFunction;
  /** Only its calls with these arguments. */
  onlyIf?: (values: readonly unknown[]) => boolean;
}

/**
 * The same database for one request: the statement that carries out an act also writes its row to the audit. So an act
 * that is refused or changes nothing leaves none, and no other act lacks one.
 *
 * A distributed database writes the row right after the act, because a call is delegated to the node of its thread, and
 * the audit is on the coordinator.
 */
export function withAudit(db: Database, acts: readonly AuditedAct[]): Database {
  const actOf = (name: string, values: readonly unknown[]) =>
    acts.find((act) => act.carriedOutBy === name && (act.onlyIf?.(values) ?? true));
  const audited =
    (send: Database['query']): Database['query'] =>
    async <Row>(name: string, text: string, values: unknown[] = []) => {
      const act = actOf(name, values);
      if (!act) return send<Row>(name, text, values);
      const when = changed[act.carriedOutBy];
      if (!db.settings.distributed) {
        const facts = [snakeKeys({ ...act.action }), act.action.threadId ?? null];
        return send<Row>(`${name}_audited`, inOne(text, when, values.length), [...values, ...facts]);
      }
      const rows = await send<Row>(name, text, values);
      const [done] = await db.query<{ changed: boolean }>(
        `${name}_changed`,
        `select ${when} as changed from (select $1::jsonb as act) told`,
        [JSON.stringify(rows[0])],
      );
      if (done!.changed) await writeAudit(db, act.action);
      return rows;
    };
  return {
    ...db,
    query: audited(db.query),
    queryLocking: audited(db.queryLocking),
    queryLong: audited(db.queryLong),
    audits: (name, values) => actOf(name, values) !== undefined,
    get reader() {
      return db.reader;
    },
  };
}

/** A call of one of the functions, `text`, that writes its row. */
const inOne = (text: string, when: string, arguments_: number): string =>
  `with act as materialized (${text}), told as materialized (select to_jsonb(a) as act from act a)
   select a.*, (select ${writtenAudit(arguments_ + 1, arguments_ + 2)} from told where ${when}) as audited from act a`;
