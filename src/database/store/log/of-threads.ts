/** SQL: the ids of threads in which users wrote the words of `$`, which says them as in a web search. */
export const wrote = `select e.thread_id from lanefold._entry e where e.kind = 'ai_message' and e.role = 'user'
  and to_tsvector('simple', left(e.payload ->> 'content', 2000)) @@ websearch_to_tsquery('simple', $)`;

/** SQL, on `thread`: that its metadata contains the JSON object in `$`. */
export const contains = 'metadata @> $::jsonb';
