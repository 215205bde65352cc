import type { Json, JsonObject, Message } from '../../../agent/context/message.ts';
import type { RecordedCall } from '../recorded.ts';
import type { Opinion } from '../scorers/scorer.ts';
import { canonicalMessage } from '../../../agent/context/canonical.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { readRows } from '../../../database/store/rows.ts';
import { readSent } from '../../../database/store/context/read-context.ts';

interface Row {
  seq: number;
  role: string;
  payload: JsonObject;
  llmCallId: string | null;
  contextHash: string | null;
}

/** The messages that a run has added to its lane, in order. */
const readMessages = (db: Database, threadId: string, runId: string): Promise<Row[]> =>
  readRows<Row>(
    db,
    'run_messages',
    `select e.seq::float8, e.role, e.payload, e.refs ->> 'llm_call_id' as llm_call_id, e.refs ->> 'context_hash' as context_hash
     from lanefold._run r join lanefold.thread_entry e on e.thread_id = r.thread_id and e.context_ref = r.context_ref
     where r.thread_id = $1 and r.id = $2 and e.run_id = r.id and e.kind = 'ai_message' and e.role in ('assistant', 'tool')
     order by e.seq`,
    [threadId, runId],
  );

/** The tool calls of a run, in order. */
export async function readRunCalls(db: Database, threadId: string, runId: string): Promise<RecordedCall[]> {
  return callsIn(await readMessages(db, threadId, runId));
}

function callsIn(rows: readonly Row[]): RecordedCall[] {
  const calls: RecordedCall[] = [];
  let open = 0;
  let message = -1;
  for (const { role, payload } of rows) {
    if (role === 'assistant') {
      message += 1;
      open = calls.length;
      const made = (payload['tool_calls'] ?? []) as { name: string; arguments: Json }[];
      for (const { name, arguments: args } of made) calls.push({ name, arguments: args, result: null, message });
    } else if (open < calls.length) {
      // the log has one tool message for each call, in call order
      calls[open]!.result = payload['content'] ?? '';
      open += 1;
    }
  }
  return calls;
}

const readOpinions = (db: Database, threadId: string, runId: string): Promise<Opinion[]> =>
  readRows<Opinion>(
    db,
    'run_feedback',
    `select rating, comment, by from lanefold.feedback where thread_id = $1 and run_id = $2 and latest
       and (rating is not null or comment is not null) order by seq`,
    [threadId, runId],
  );

/** What a run answered, and what its model was sent for it. */
export interface RunAnswer {
  /** The text of its last message; empty if that consists of tool calls. */
  text: string;
  calls: RecordedCall[];
  /** Calls of the last message. */
  last: RecordedCall[];
  messages: Message[];
  /** The hash of the messages of its first call. */
  firstHash: string | null;
  /** What people think of its answers. */
  feedback: Opinion[];
}

/** Undefined if no model has answered. */
export async function readAnswer(db: Database, threadId: string, runId: string): Promise<RunAnswer | undefined> {
  const rows = await readMessages(db, threadId, runId);
  const answers = rows.filter(({ role }) => role === 'assistant');
  const answer = answers.at(-1);
  if (!answer) return undefined;
  const calls = callsIn(rows);
  const sent = answer.llmCallId === null ? [] : await readSent(db, threadId, answer.llmCallId);
  return {
    text: textOf(answer.payload['content']),
    calls,
    last: calls.filter(({ message }) => message === answers.length - 1),
    messages: sent.map(canonicalMessage),
    firstHash: answers[0]!.contextHash,
    feedback: await readOpinions(db, threadId, runId),
  };
}

function textOf(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part) => (typeof part === 'object' && part !== null && 'text' in part ? String(part['text']) : ''))
    .join('');
}

/** The model that wrote the last message of a run; undefined: the model of the run, or the run has no message. */
export async function readModelOfAnswer(db: Database, threadId: string, runId: string): Promise<string | undefined> {
  const [answer] = await db.query<{ model: string | null }>(
    'model_of_answer',
    `select e.refs ->> 'model' as model from lanefold._entry e
     where e.thread_id = $1 and e.run_id = $2 and e.kind = 'ai_message' and e.role = 'assistant'
     order by e.seq desc limit 1`,
    [threadId, runId],
  );
  return answer?.model ?? undefined;
}
