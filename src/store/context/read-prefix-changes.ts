import type { Database } from '../../postgres/pool.ts';

/** An entry that may change the beginning of a lane's context: a new prompt or an anchor. */
export interface PrefixChange {
  seq: number;
  is_anchor: boolean;
  /** It sets the system prompt. */
  of_prompt: boolean;
}

/** Those between two entries, newest first. */
export const readPrefixChanges = (
  db: Database,
  threadId: string,
  contextRef: string,
  { after, before }: { after: number; before: number },
): Promise<PrefixChange[]> =>
  db.query<PrefixChange>(
    'prefix_changes',
    `select e.seq::float8, e.is_anchor,
       not e.is_anchor or e.payload -> 'operation' -> 'result_context' ? 'system_prompt' as of_prompt
     from lanefold.thread_entry e
     where e.thread_id = $1 and e.seq > $3 and e.seq < $4 and (e.context_ref = $2 or e.context_ref is null)
       and (e.is_anchor or e.kind = 'ai_config_change' and e.payload ->> 'field' = 'system_prompt')
     order by e.seq desc`,
    [threadId, contextRef, after, before],
  );
