import type { JsonObject, Message } from '../../../agent/context/message.ts';
import { isLanefoldError } from '../../../base/errors.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { outOfLine } from '../../../database/store/content/out-of-line.ts';
import { importThread } from '../../../database/store/portable/import-thread.ts';

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
  db.query(
    'cases_of_contexts',
    `select id, context_hash as "contextHash", agent, erased_at is not null as erased from lanefold._case
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
    ...{ type: 'replace', reason: 'manual' },
    result_context: { entries, ...(prompt === undefined ? {} : { system_prompt: prompt }) },
  };
  const replace = {
    ...{ seq: contextSeq, kind: 'ai_context_operation', context_ref: 'default', op_id: 'import', is_anchor: true },
    payload: { operation } as unknown as JsonObject,
  };
  const p = {
    ...{ tenant_id: tenant, request_hash: hash, entries: [replace], contents, runs: [], lanes: [] },
    facts: { format: 'lanefold_case', context_hash: hash },
  };
  await importThread(db, threadId, JSON.stringify(p));
}
