import type { Expected } from '../item.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import {
  Conditions,
  cursorText,
  microsSql,
  readCursor,
  timestampSql,
  type ListPage,
} from '../../../database/store/page.ts';

/** A case: a past run or model call, by reference, with what should have been answered. */
export interface EvalCase {
  id: string;
  tenant: string;
  dataset: string;
  /** `run`: its question is asked again. `call`: its answer is asked for again, with the same context. */
  kind: 'run' | 'call';
  threadId: string;
  /** Null for an imported case, whose thread has the messages of the call and no run. */
  runId: string | null;
  /** The call; of a run, its first one. Null for an imported case. */
  llmCallId: string | null;
  contextRef: string;
  /** The last entry of the context before the question of a run, or before the answer of a call; -1: none. */
  seq: number;
  /** SHA-256 of the messages of the call. */
  contextHash: string;
  /** As in the run: evals may use others. */
  agent: string;
  model: string;
  tags: string[];
  /** A part of the dataset, such as `train` or `test`; null: none. */
  split: string | null;
  expected: Expected | null;
  note: string | null;
  keptBy: string;
  createdAt: Date;
  updatedAt: Date;
  /** When its thread was erased, and what it said of the thread with it: `expected`, `note`, `tags`, `split`; evals leave it out from then on. Null otherwise. */
  erasedAt: Date | null;
  /**
   * The first 200 characters of the message that began its run, read from the log; of an imported case, of the last
   * message of the user. Null if there is none, and once the thread is erased.
   */
  question: string | null;
}

/** A case as it is stored: it copies nothing of the log. */
export type StoredCase = Omit<EvalCase, 'question'>;

/** A dataset: the name that cases share. */
export interface Dataset {
  tenant: string;
  dataset: string;
  cases: number;
  /** Of these, how many have lost their thread. */
  erased: number;
  updatedAt: Date;
}

export interface CaseQuery {
  dataset?: string | undefined;
  tag?: string | undefined;
  split?: string | undefined;
  after?: string | undefined;
  limit: number;
}

const columns = `id, tenant_id as tenant, dataset, kind, thread_id as "threadId", run_id as "runId", llm_call_id as "llmCallId",
  context_ref as "contextRef", seq::float8, context_hash as "contextHash", agent, model, tags, split, expected, note, kept_by as "keptBy",
  created_at as "createdAt", updated_at as "updatedAt", erased_at as "erasedAt"`;

/** Keeps a case; see `keep_case`. `kept` is false if the dataset had one of this source. */
export async function keepCase(
  db: Database,
  tenant: string,
  id: string,
  p: JsonObject,
): Promise<{ id: string; kept: boolean }> {
  const text = 'select k.kept from lanefold.keep_case($1, $2, $3) as k (kept)';
  return (await db.query<{ kept: { id: string; kept: boolean } }>('keep_case', text, [tenant, id, p]))[0]!.kept;
}

export async function readCase(db: Database, id: string): Promise<StoredCase | undefined> {
  const text = `select ${columns} from lanefold._case where id = $1`;
  return (await db.query<StoredCase & Record<string, unknown>>('case', text, [id]))[0];
}

/** A page of cases, the oldest first. */
export async function listCases(
  db: Database,
  { dataset, tag, split, after, limit }: CaseQuery,
): Promise<ListPage<StoredCase>> {
  const where = new Conditions()
    .add('d', 'dataset = $', dataset)
    .add('t', '$ = any (tags)', tag)
    .add('s', 'split = $', split);
  const [micros, id] = readCursor(after, 1) ?? [];
  if (micros !== undefined)
    where.fixed('a', `(created_at, id) > (${timestampSql(where.value(micros))}, ${where.value(id)})`);
  const text = `select ${columns}, ${microsSql('created_at')} as micros from lanefold._case where ${where.toString()}
    order by created_at, id limit ${where.value(limit + 1)}`;
  const rows = await db.query<StoredCase & { micros: string } & Record<string, unknown>>(
    `list_cases_${where.key}`,
    text,
    where.values,
  );
  const data = rows.slice(0, limit).map(({ micros: _, ...row }) => row as StoredCase);
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return { data, nextAfter: last ? cursorText([last.micros, last.id]) : null };
}

/** Changes a case; see `update_case`. Returns false if there is none, or its thread is erased. */
export async function updateCase(db: Database, id: string, p: JsonObject): Promise<boolean> {
  const text = 'select u.found from lanefold.update_case($1, $2) as u (found)';
  return (await db.query<{ found: boolean }>('update_case', text, [id, p]))[0]!.found;
}

/** Returns false if there is none. */
export async function removeCase(db: Database, id: string, by: string): Promise<boolean> {
  const text = 'select r.found from lanefold.remove_case($1, $2) as r (found)';
  return (await db.query<{ found: boolean }>('remove_case', text, [id, by]))[0]!.found;
}

/** Marks the cases of an erased thread; see `erase_cases`. */
export const eraseCases = async (db: Database, threadId: string): Promise<void> =>
  void (await db.query('erase_cases', 'select from lanefold.erase_cases($1)', [threadId]));

/** Datasets by tenant and name. */
export const readDatasets = (db: Database): Promise<Dataset[]> =>
  db.query<Dataset & Record<string, unknown>>(
    'datasets',
    `select tenant_id as tenant, dataset, count(*)::int as cases, count(erased_at)::int as erased, max(updated_at) as "updatedAt"
     from lanefold._case group by tenant_id, dataset order by tenant_id, dataset`,
  );
