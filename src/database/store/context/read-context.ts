import type { ContextRow } from '../../../agent/context/fold.ts';
import type { Database } from '../../postgres/pool.ts';
import type { Message } from '../../../agent/context/message.ts';
import type { RunOptions } from '../../../agent/definition/run-options.ts';
import { head } from './read-lanes.ts';

/** The context of a lane as of an entry, or now. */
export const readContext = (
  db: Database,
  threadId: string,
  contextRef: string,
  atSeq?: number,
): Promise<ContextRow[]> =>
  db.query<ContextRow>(
    'lane_context_at',
    `select anchor_seq::float8, ordinal::int, seq::float8, role, content, tool_calls, tool_call_id, name, thinking,
       reasoning_details, provider_metadata, run_id, request_id, refs
     from lanefold.lane_context_at($1, $2, $3) order by ordinal`,
    [threadId, contextRef, atSeq ?? head],
  );

/** A message sent in a model call; `seq` is -1 for the prompt of a policy. */
export type SentRow = Record<keyof Message, unknown> & { seq: number; altered: 'transformer' | 'contract' | null };

/** The messages sent in an answered model call, as its policy cut them; without messages that the log does not have. */
export const readSent = (db: Database, threadId: string, callId: string): Promise<SentRow[]> =>
  db.query<SentRow>(
    'call_context',
    `select seq::float8, role, content, tool_calls, tool_call_id, name, thinking, reasoning_details, provider_metadata, altered
     from lanefold.call_context($1, $2) order by ordinal`,
    [threadId, callId],
  );

/** Agent and model of a run of a lane, and the options that a compaction of the lane takes over. */
export interface LaneAgent {
  agent: string;
  model: string;
  options: Pick<RunOptions, 'limit_keys' | 'version' | 'pinned'>;
}

/** Those of the latest run of a lane, or of the latest that had begun by an entry; undefined without one. */
export async function readLaneAgent(
  db: Database,
  threadId: string,
  contextRef: string,
  atSeq?: number,
): Promise<LaneAgent | undefined> {
  const [row] = await db.query<LaneAgent>(
    'lane_agent',
    `select agent, model, jsonb_strip_nulls(jsonb_build_object('limit_keys', options -> 'limit_keys',
       'version', options -> 'version', 'pinned', options -> 'pinned')) as options
     from lanefold._run
     where thread_id = $1 and context_ref = $2 and not coalesce(options ? 'compaction', false)
       and ($3::bigint is null or user_seq <= $3)
     order by case when $3::bigint is not null then user_seq end desc, created_at desc limit 1`,
    [threadId, contextRef, atSeq ?? null],
  );
  return row;
}

/** An entry that may change the beginning of a lane's context: a new prompt or an anchor. */
interface PrefixChange {
  seq: number;
  is_anchor: boolean;
  /** It sets the system prompt. */
  of_prompt: boolean;
}

/** The prefix changes between two entries, newest first. */
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
