import type { Database } from '../../../database/postgres/pool.ts';
import { overThreads } from '../../../database/store/each-thread.ts';
import { firstText, questionSql } from '../../../database/store/run/question.ts';
import type { EvalCase } from '../types.ts';
import type { StoredCase } from './cases.ts';
import { contextSeq } from './cases.ts';

interface Asked {
  id: string;
  question: string | null;
}

/** Cases with their questions, which the log has. */
export async function withQuestions(db: Database, cases: readonly StoredCase[]): Promise<EvalCase[]> {
  const kept = cases.filter(({ erasedAt }) => erasedAt === null);
  const asked = [
    ...(await questionsOfRuns(
      db,
      kept.filter(({ runId }) => runId !== null),
    )),
    ...(await importedQuestions(
      db,
      kept.filter(({ runId }) => runId === null),
    )),
  ];
  const questions = new Map(asked.map(({ id, question }) => [id, question]));
  return cases.map((one) => ({ ...one, question: questions.get(one.id) ?? null }));
}

async function questionsOfRuns(db: Database, cases: readonly StoredCase[]): Promise<Asked[]> {
  if (cases.length === 0) return [];
  const question = `${questionSql('r', 'r.thread_id')} as question`;
  return overThreads(db, cases, {
    together: () =>
      db.query<Asked & Record<string, unknown>>(
        'questions_of_cases',
        `select k.id, ${question} from unnest($1::text[], $2::text[], $3::text[]) as k (id, thread_id, run_id)
         join lanefold._run r on r.thread_id = k.thread_id and r.id = k.run_id`,
        [cases.map(({ id }) => id), cases.map(({ threadId }) => threadId), cases.map(({ runId }) => runId)],
      ),
    one: ({ id, threadId, runId }) =>
      db.query<Asked & Record<string, unknown>>(
        'question_of_case',
        `select $1::text as id, ${question} from lanefold._run r where r.thread_id = $2 and r.id = $3`,
        [id, threadId, runId],
      ),
  });
}

/** The thread of an imported case has the whole context in one entry. */
const imported = `jsonb_path_query_array(e.payload, '$.operation.result_context.entries[*] ? (@.role == "user").content') -> -1`;

async function importedQuestions(db: Database, cases: readonly StoredCase[]): Promise<Asked[]> {
  if (cases.length === 0) return [];
  const question = `${firstText(imported)} as question`;
  return overThreads(db, cases, {
    together: () =>
      db.query<Asked & Record<string, unknown>>(
        'imported_questions',
        `select k.id, ${question} from unnest($1::text[], $2::text[]) as k (id, thread_id)
         join lanefold._entry e on e.thread_id = k.thread_id and e.seq = $3`,
        [cases.map(({ id }) => id), cases.map(({ threadId }) => threadId), contextSeq],
      ),
    one: ({ id, threadId }) =>
      db.query<Asked & Record<string, unknown>>(
        'imported_question',
        `select $1::text as id, ${question} from lanefold._entry e where e.thread_id = $2 and e.seq = $3`,
        [id, threadId, contextSeq],
      ),
  });
}
