/** SQL, on `_entry`: that a user wrote the words of `$`, which says them as in a web search; `text` is what is searched. */
const words = (text: string): string => `e.kind = 'ai_message' and e.role = 'user'
  and to_tsvector('simple', ${text}) @@ websearch_to_tsquery('simple', $)`;

/** As the index of words has it. */
const indexed = "left(e.payload ->> 'content', 2000)";

/** SQL: the ids of threads in which users wrote the words of `$`. */
export const wrote = `select e.thread_id from lanefold._entry e where ${words(indexed)}`;

/** SQL, on `thread`: that its metadata contains the JSON object in `$`. */
export const contains = 'metadata @> $::jsonb';

// What follows is for what many threads have. The offset keeps the planner from looking for all of them first, and the empty text
// from asking the index of words once for each thread.

/** SQL: that users wrote the words of `$` in the thread with this id, which is read. */
export const wroteIn = (threadId: string): string =>
  `exists (select from lanefold._entry e where e.thread_id = ${threadId} and ${words(`${indexed} || ''`)} offset 0)`;

/** SQL: the same in the newest entries of the thread. */
export const wroteLately = (threadId: string): string =>
  `exists (select from (select * from lanefold._entry where thread_id = ${threadId} order by seq desc limit 40) e
     where ${words(`${indexed} || ''`)})`;

/** SQL: that the metadata of the thread with this id, which is read, contains the JSON object in `$`. */
export const containedIn = (threadId: string): string =>
  `exists (select from lanefold.thread own where own.id = ${threadId} and own.${contains} offset 0)`;
