/** How many characters lists show of the message that began a run. */
const shown = 200;

/**
 * SQL: the first characters of the message that began a run; null if it began without one. `run` is the row of the run,
 * `threadId` the id of its thread, both in SQL. The run itself has the message until a worker appends it to the log. If
 * the message has parts, such as an image and a text, this is the first text.
 */
export const questionSql = (run: string, threadId: string): string =>
  `coalesce(${firstText(`${run}.input -> 'content'`)}, (select ${firstText(`e.payload -> 'content'`)}
    from lanefold._entry e where e.thread_id = ${threadId} and e.seq = ${questionSeqSql(run)}))`;

/** SQL: the entry of the question of a run, which may be that of another run; null if it has none, or has not begun. */
export const questionSeqSql = (run: string): string =>
  `coalesce(${run}.user_seq, (${run}.options ->> 'answers')::bigint)`;

/** SQL: the first characters of a message; `content` is its content, in SQL. */
export const firstText = (content: string): string =>
  `left(coalesce(jsonb_path_query_first(${content}, '$[*] ? (@.type == "text").text'), ${content}) #>> '{}', ${shown})`;
