import { call } from '../call.ts';
import { idGrammar } from '../../../base/checks/ids.ts';
import { snakeKeys, camelKeys } from '../../../base/common/case.ts';
import { omitUndefined, parseJson } from '../../../base/common/json.ts';
import type { ActingFunction } from '../../../base/operations/operation.ts';
import type { Database } from '../../postgres/pool.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import type { AuditEntry, AuditQuery } from './types.ts';

/**
 * The functions whose calls can be audited, and when such a call has changed something: a condition on `act`, its row as
 * JSON.
 */
const changed = {
  apply_operation: "act #>> '{result,status}' not in ('duplicate', 'stale')",
  branch: "act #>> '{result,duplicate}' = 'false'",
  cancel_run: "act #>> '{result,accepted}' = 'true'",
  change_config: 'true',
  create_fork: "act #>> '{result,duplicate}' = 'false'",
  decide_tool_call: "act #>> '{result,duplicate}' = 'false'",
  delete_stream: "act ->> 'result' = 'deleted'",
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

/** Functions that take a thread and its run. Where the request names none, because it acts on many, their calls do. */
const ofRuns: ReadonlySet<ActingFunction> = new Set(['cancel_run', 'decide_tool_call', 'end_wait', 'enqueue_run']);

/** What an act says of the call that carries it out. */
function actionOf({ action, carriedOutBy }: AuditedAct, values: readonly unknown[]): AuditedAction {
  if (action.threadId !== undefined || !ofRuns.has(carriedOutBy)) return action;
  const [threadId, second] = values;
  // `enqueue_run` takes what is to be stored of the run
  const run = typeof second === 'string' && idGrammar.test(second) ? second : idIn(second);
  return { ...action, ...(typeof threadId === 'string' ? omitUndefined({ threadId, runId: run }) : {}) };
}

function idIn(given: unknown): string | undefined {
  const { id } = (typeof given === 'string' ? parseJson(given) : given) as { id?: unknown };
  return typeof id === 'string' ? id : undefined;
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
      const action = actionOf(act, values);
      if (!db.settings.distributed) {
        const facts = [snakeKeys({ ...action }), action.threadId ?? null];
        return send<Row>(`${name}_audited`, inOne(text, when, values.length), [...values, ...facts]);
      }
      const rows = await send<Row>(name, text, values);
      const [done] = await db.query<{ changed: boolean }>(
        `${name}_changed`,
        `select ${when} as changed from (select $1::jsonb as act) told`,
        [JSON.stringify(rows[0])],
      );
      if (done!.changed) await writeAudit(db, action);
      return rows;
    };
  return {
    ...db,
    query: audited(db.query),
    queryLocking: audited(db.queryLocking),
    queryLong: audited(db.queryLong),
    audits: (name, values) => actOf(name, values) !== undefined,
    get lists() {
      return db.lists;
    },
    get reader() {
      return db.reader;
    },
  };
}

/** A call of one of the functions, `text`, that writes its row. */
const inOne = (text: string, when: string, arguments_: number): string =>
  `with act as materialized (${text}), told as materialized (select to_jsonb(a) as act from act a)
   select a.*, (select ${writtenAudit(arguments_ + 1, arguments_ + 2)} from told where ${when}) as audited from act a`;

export interface AuditedAction {
  actor: string;
  /** What was done, such as `approve_tool_call` or `keys.create`. */
  action: string;
  tenantId?: string | undefined;
  threadId?: string | undefined;
  runId?: string | undefined;
  detail?: JsonObject;
}

/**
 * SQL that audits an action: `facts` and `threadId` are the numbers of its parameters. An action on a thread is recorded
 * for the thread's tenant, unless the facts name a tenant.
 */
export const writtenAudit = (facts: number, threadId: number): string =>
  `lanefold.write_audit(jsonb_strip_nulls(jsonb_build_object(
     'tenant_id', (select t.tenant_id from lanefold.thread t where t.id = $${threadId}::text))) || $${facts}::jsonb)`;

/** Audits an action that no statement carries out; see `withAudit` for the others. */
export async function writeAudit(db: Database, entry: AuditedAction): Promise<void> {
  const facts = snakeKeys({ ...entry });
  if (!db.settings.distributed)
    return void (await db.query('write_audit_of_thread', `select ${writtenAudit(1, 2)}`, [
      facts,
      entry.threadId ?? null,
    ]));
  // the threads are on nodes, and the audit is on the coordinator
  const [thread] =
    entry.threadId === undefined
      ? []
      : await db.query<{ tenant_id: string }>(
          'tenant_of_audited',
          'select t.tenant_id from lanefold.thread t where t.id = $1',
          [entry.threadId],
        );
  await call(db.query, 'write_audit', { p: { ...thread, ...facts } });
}

/**
 * Audits a read by a principal without a tenant: a read of a thread that has a tenant or, without a thread, a read
 * across threads in a database with tenants. A database without tenants gets no such rows.
 */
export async function auditRead(db: Database, { threadId, ...entry }: AuditedAction): Promise<void> {
  if (threadId !== undefined) {
    await call(db.query, 'audit_read', { threadId, p: snakeKeys({ ...entry }) });
    return;
  }
  const [row] = await db.query<{ tenants: boolean }>(
    'has_tenants',
    `select exists (select 1 from lanefold.thread where tenant_id < 'default')
       or exists (select 1 from lanefold.thread where tenant_id > 'default') as tenants`,
  );
  if (row!.tenants) await writeAudit(db, entry);
}

export async function readAudit(
  db: Database,
  { after = 0, threadId, tenantId, limit = 100 }: AuditQuery,
): Promise<AuditEntry[]> {
  const rows = await db.query(
    'read_audit',
    `select no, at, tenant_id, actor, action, thread_id, run_id, detail from lanefold.audit
     where no > $1 and ($2::text is null or thread_id = $2) and ($3::text is null or tenant_id = $3) order by no limit $4`,
    [after, threadId ?? null, tenantId ?? null, limit],
  );
  return rows.map((row) => ({ ...camelKeys(row), no: Number(row['no']) }) as unknown as AuditEntry);
}
