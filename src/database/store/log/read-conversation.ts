import type { Json, JsonObject, Usage } from '../../../agent/context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import type { Parent } from '../branch/shown-path.ts';
import { fromRows, readRows } from '../rows.ts';

/** A message of the log, with what the ledger knows of its tool calls. */
export interface ConversationEntry {
  seq: number;
  role: 'user' | 'assistant' | 'tool';
  runId: string | null;
  requestId: string | null;
  payload: JsonObject;
  refs: JsonObject;
  /** In call order; null for a message without calls, or outside of a run. */
  calls: ConversationCall[] | null;
}

export interface ConversationCall {
  round: number;
  index: number;
  status: string;
  approval: { decision?: 'approved' | 'denied'; reason?: string | null } | null;
  /** The result, for as long as it is not in the log. */
  result: string | null;
  /** What the message of that result will have in its `refs`, beside what the runtime adds. */
  refs: JsonObject | null;
}

export interface ConversationRun {
  id: string;
  status: string;
  terminationReason: string | null;
  finishReason: string | null;
  usage: Usage | null;
  error: { type: string; message: string } | null;
}

/** A question that no worker has taken yet: it is not in the log. */
export interface WaitingQuestion {
  runId: string;
  requestId: string;
  content: Json;
  refs: JsonObject;
}

/** The part of a lane before `before`, in turns. Each user message begins a turn, unless it steers a run. */
export interface ConversationPage {
  entries: ConversationEntry[];
  runs: ConversationRun[];
  /** Runs of a branch that were to answer the question before it, and ended without a message. */
  silent: ConversationRun[];
  /** The `seq` of the first entry if there are earlier ones. */
  nextBefore: number | null;
}

const startsTurn = "role = 'user' and (run_id is null or refs ->> 'kind' is null)";

interface Range {
  before: number;
  limit: number;
  maxBytes: number;
}

/**
 * The last `limit` turns of a conversation before an entry; fewer if they have more than `maxBytes`, but at least one. The
 * conversation of a branch begins on the lanes that it left.
 *
 * @param left where the branches of the thread begin, as `readParents` reads it
 */
export async function readConversation(
  db: Database,
  threadId: string,
  contextRef: string,
  { before, limit, maxBytes }: Range,
  left: ReadonlyMap<string, Parent>,
): Promise<ConversationPage> {
  const parts: LanePart[] = [];
  let upto = before;
  let turns = 0;
  let bytes = 0;
  for (let lane = contextRef; ;) {
    const parent = left.get(lane);
    if (!parent || parent.branchSeq < upto) {
      const range = { before: upto, limit: Math.max(1, limit - turns), maxBytes: maxBytes - bytes };
      const part = await readLane(db, threadId, lane, range, parent !== undefined && parent.parentSeq !== null);
      parts.unshift(part);
      turns += part.turns;
      bytes += part.bytes;
    }
    const [first] = parts;
    if (first?.nextBefore != null || !parent) break;
    upto = Math.min(upto, parent.afterSeq + 1);
    lane = parent.parentRef;
  }
  const runs = new Map(
    parts.flatMap((part, n) => {
      const answers = n < parts.length - 1 ? withoutLast(part) : part.runs;
      return answers.map((run) => [run.id, run]);
    }),
  );
  return {
    entries: parts.flatMap(({ entries }) => entries),
    runs: [...runs.values()],
    silent:
      left.has(contextRef) && parts.at(-1)?.entries.length === 0 ? await readSilent(db, threadId, contextRef) : [],
    nextBefore: parts[0]?.nextBefore ?? null,
  };
}

const readSilent = (db: Database, threadId: string, contextRef: string): Promise<ConversationRun[]> =>
  readRows<ConversationRun>(
    db,
    'silent_runs',
    `select ${runColumns} from lanefold._run
     where thread_id = $1 and context_ref = $2 and finished_at is not null and options ? 'answers' order by created_at`,
    [threadId, contextRef],
  );

const runColumns = 'id, status, termination_reason, finish_reason, usage, error';

const isTurn = ({ role, runId, refs }: ConversationEntry): boolean =>
  role === 'user' && (runId === null || (refs['kind'] ?? null) === null);

/** The runs of a part that a branch has left, without one whose whole answer is on the lane that was left. */
function withoutLast({ entries, runs }: LanePart): ConversationRun[] {
  const asked = entries.findLastIndex(isTurn);
  const runId = entries[asked]?.runId;
  const answers = entries.slice(asked + 1).some((entry) => entry.runId === runId);
  return answers ? runs : runs.filter(({ id }) => id !== runId);
}

interface LanePart extends Omit<ConversationPage, 'silent'> {
  turns: number;
  bytes: number;
}

/** The same of one lane alone. `continues`: a turn that began on another lane may come before its first one. */
async function readLane(
  db: Database,
  threadId: string,
  contextRef: string,
  { before, limit, maxBytes }: Range,
  continues: boolean,
): Promise<LanePart> {
  const turns = await db.query<{ seq: number; bytes: number }>(
    'conversation_turns',
    `select t.seq::float8, (select coalesce(sum(m.bytes), 0) from lanefold._entry m
       where m.thread_id = $1 and m.context_ref = $2 and m.kind = 'ai_message'
         and m.seq >= t.seq and m.seq < t.next_seq)::float8 as bytes
     from (select seq, lag(seq, 1, $3) over (order by seq desc) as next_seq
           from (select seq from lanefold._entry
                 where thread_id = $1 and context_ref = $2 and kind = 'ai_message' and seq < $3 and ${startsTurn}
                 order by seq desc limit $4) newest) t
     order by t.seq desc`,
    [threadId, contextRef, before, limit + 1],
  );
  let shown = 0;
  let bytes = 0;
  for (; shown < Math.min(limit, turns.length); shown++) {
    const more = turns[shown]!.bytes;
    if (shown > 0 && bytes + more > maxBytes) break;
    bytes += more;
  }
  const isFull = shown < turns.length || (continues && shown >= limit);
  const from = isFull ? turns[shown - 1]!.seq : 0;
  const rows = await db.query<EntryRow>(
    'conversation_entries',
    `select e.seq::float8, e.role, e.run_id, e.request_id, e.payload, e.refs,
       case when e.role = 'assistant' and e.payload ? 'tool_calls' then (
         select json_agg(json_build_object('round', c.round, 'index', c.call_index, 'status', c.status, 'approval', c.approval,
           'result', c.outcome ->> 'content', 'refs', c.outcome -> 'refs') order by c.call_index)
         from lanefold._tool_call c where c.thread_id = $1 and c.run_id = e.run_id and c.call_seq = e.seq) end as calls
     from lanefold.thread_entry e
     where e.thread_id = $1 and e.context_ref = $2 and e.kind = 'ai_message' and e.seq >= $3 and e.seq < $4
       and e.role in ('user', 'assistant', 'tool')
     order by e.seq`,
    [threadId, contextRef, from, before],
  );
  const runIds = [...new Set(rows.map((row) => row.run_id).filter((id) => id !== null))];
  const runs = await readRows<ConversationRun>(
    db,
    'conversation_runs',
    `select ${runColumns} from lanefold._run where thread_id = $1 and id = any($2::text[])`,
    [threadId, runIds],
  );
  return {
    entries: fromRows(rows),
    runs,
    nextBefore: isFull ? from : null,
    turns: shown,
    bytes,
  };
}

/** The questions of a lane that no worker has taken yet, in the order of their runs. */
export async function readWaitingQuestions(
  db: Database,
  threadId: string,
  contextRef: string,
): Promise<WaitingQuestion[]> {
  const rows = await db.query<{ id: string; request_id: string; content: Json; refs: JsonObject }>(
    'waiting_questions',
    `select id, coalesce(request_id, id) as request_id, input -> 'content' as content,
       coalesce(input -> 'refs', '{}') as refs
     from lanefold._run
     where thread_id = $1 and context_ref = $2 and user_seq is null and input is not null
       and (active or not active and finished_at is null)
     order by active desc, interrupts desc, created_at, id`,
    [threadId, contextRef],
  );
  return rows.map(({ id: runId, request_id: requestId, ...question }) => ({ runId, requestId, ...question }));
}

interface FoundRun {
  id: string;
  contextRef: string;
  ended: boolean;
  /** The entry of its question; null: it has none, or has not begun. */
  userSeq: number | null;
}

/** The run that has this id, or else the one that has one of the other ids, or whose request has. */
export async function findRun(
  db: Database,
  threadId: string,
  id: string,
  requestIds: readonly string[],
): Promise<FoundRun | undefined> {
  const [run] = await readRows<FoundRun>(
    db,
    'run_of_message',
    `select id, context_ref, finished_at is not null as ended, user_seq::float8 from lanefold._run
     where thread_id = $1 and (id = $2 or id = any ($3::text[]) or request_id = any ($3::text[]))
     order by id = $2 desc limit 1`,
    [threadId, id, requestIds],
  );
  return run;
}

type EntryRow = Omit<ConversationEntry, 'runId' | 'requestId'> & { run_id: string | null; request_id: string | null };
