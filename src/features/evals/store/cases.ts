import type { Dataset, EvalCase } from '../types.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import { call } from '../../../database/store/call.ts';
import type { Message } from '../../../agent/context/message.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import {
  Conditions,
  microsSql,
  pageByTime,
  readCursor,
  readRows,
  timestampSql,
  type ListPage,
} from '../../../database/store/rows.ts';
import { isLanefoldError } from '../../../base/errors.ts';
import { outOfLine } from '../../../database/store/content/out-of-line.ts';
import { importThread } from '../../../database/store/portable/import-thread.ts';

/** A case as it is stored: it copies nothing of the log. */
export type StoredCase = Omit<EvalCase, 'question'>;

interface CaseQuery {
  dataset?: string | undefined;
  tag?: string | undefined;
  split?: string | undefined;
  threadId?: string | undefined;
  ids?: readonly string[] | undefined;
  after?: string | undefined;
  limit: number;
}

const columns = `id, tenant_id as tenant, dataset, kind, thread_id, run_id, llm_call_id, context_ref, seq::float8, context_hash, agent,
  model, tags, split, expected, note, kept_by, created_at, updated_at, erased_at`;

/** Keeps a case; see `keep_case`. `kept` is false if the dataset had one of this source. */
export async function keepCase(
  db: Database,
  tenant: string,
  id: string,
  p: JsonObject,
): Promise<{ id: string; kept: boolean }> {
  return (await call(db.query, 'keep_case', { tenant, id, p })) as { id: string; kept: boolean };
}

export async function readCase(db: Database, id: string): Promise<StoredCase | undefined> {
  const text = `select ${columns} from lanefold._case where id = $1`;
  return (await readRows<StoredCase>(db, 'case', text, [id]))[0];
}

/** A page of cases, the oldest first. */
export async function listCases(
  db: Database,
  { dataset, tag, split, threadId, ids, after, limit }: CaseQuery,
): Promise<ListPage<StoredCase>> {
  const where = new Conditions()
    .add('d', 'dataset = $', dataset)
    .add('t', '$ = any (tags)', tag)
    .add('s', 'split = $', split)
    .add('h', 'thread_id = $', threadId)
    .add('i', 'id = any ($)', ids);
  const [micros, id] = readCursor(after, 1) ?? [];
  if (micros !== undefined)
    where.fixed('a', `(created_at, id) > (${timestampSql(where.value(micros))}, ${where.value(id)})`);
  const text = `select ${columns}, ${microsSql('created_at')} as micros from lanefold._case where ${where.toString()}
    order by created_at, id limit ${where.value(limit + 1)}`;
  const rows = await readRows<StoredCase & { micros: string }>(db, `list_cases_${where.key}`, text, where.values);
  return pageByTime(rows, limit, ({ id }) => [id]);
}

/** Changes a case; see `update_case`. Returns false if there is none, or its thread is erased. */
export async function updateCase(db: Database, id: string, p: JsonObject): Promise<boolean> {
  return await call(db.query, 'update_case', { id, p });
}

/** Returns false if there is none. */
export async function removeCase(db: Database, id: string, by: string): Promise<boolean> {
  return await call(db.query, 'remove_case', { id, by });
}

/** Marks the cases of an erased thread; see `erase_cases`. */
export const eraseCases = async (db: Database, threadId: string): Promise<void> =>
  void (await call(db.query, 'erase_cases', { source: threadId }));

/** Datasets by tenant and name. */
export const readDatasets = (db: Database): Promise<Dataset[]> =>
  readRows<Dataset>(
    db,
    'datasets',
    `select tenant_id as tenant, dataset, count(*)::int as cases, count(erased_at)::int as erased, max(updated_at) as updated_at
     from lanefold._case group by tenant_id, dataset order by tenant_id, dataset`,
  );

/** What the messages of a lane lack to be a context; undefined if they can be one. */
export async function contextProblem(db: Database, messages: readonly Message[]): Promise<string | undefined> {
  try {
    const text = 'select lanefold._check_lane($1, false, $2)';
    await db.query('check_lane', text, [JSON.stringify(messages), 'the case']);
    return undefined;
  } catch (error) {
    if (!isLanefoldError(error) || error.status >= 500) throw error;
    return error.message;
  }
}

/** The cases of a dataset with these contexts. */
export const casesOfContexts = (
  db: Database,
  { tenant, dataset, hashes }: { tenant: string; dataset: string; hashes: readonly string[] },
): Promise<{ id: string; contextHash: string; agent: string; erased: boolean }[]> =>
  readRows(
    db,
    'cases_of_contexts',
    `select id, context_hash, agent, erased_at is not null as erased from lanefold._case
     where tenant_id = $1 and dataset = $2 and context_hash = any ($3) order by created_at, id`,
    [tenant, dataset, hashes],
  );

/** The entry that an imported thread has its context in. */
export const contextSeq = 0;

/** Creates the thread of an imported case. Its lane begins with the whole context. Repeating it changes nothing. */
export async function importContext(
  db: Database,
  {
    threadId,
    tenant,
    hash,
    messages,
  }: { threadId: string; tenant: string; hash: string; messages: readonly Message[] },
): Promise<void> {
  const [first, ...rest] = messages;
  const prompt = first?.role === 'system' ? first.content : undefined;
  const { messages: entries, contents = [] } = outOfLine(db, prompt === undefined ? [...messages] : rest);
  const operation = {
    type: 'replace',
    reason: 'manual',
    result_context: { entries, ...(prompt === undefined ? {} : { system_prompt: prompt }) },
  };
  const replace = {
    seq: contextSeq,
    kind: 'ai_context_operation',
    context_ref: 'default',
    op_id: 'import',
    is_anchor: true,
    payload: { operation } as unknown as JsonObject,
  };
  const p = {
    tenant_id: tenant,
    request_hash: hash,
    entries: [replace],
    contents,
    runs: [],
    lanes: [],
    facts: { format: 'lanefold_case', context_hash: hash },
  };
  await importThread(db, threadId, JSON.stringify(p));
}
