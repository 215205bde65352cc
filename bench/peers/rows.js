import pg from 'pg';
import { asked, check, converse, question } from './workload.js';

/** No system: the run as plain code that commits the question and what each step returns. What it takes is that of its commits. */
export async function open({ databaseUrl, concurrency }) {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: concurrency });
  await pool.query(
    'create table if not exists step (id bigint generated always as identity primary key, name text not null, result jsonb not null)',
  );
  const store = (name, result) =>
    pool.query({
      name: 'store',
      text: 'insert into step (name, result) values ($1, $2)',
      values: [name, JSON.stringify(result)],
    });
  const step = async (name, action) => {
    const result = await action();
    await store(name, result);
    return result;
  };
  return {
    async run() {
      await store('question', question);
      check(await converse(asked(question), step));
    },
    close: () => pool.end(),
  };
}
