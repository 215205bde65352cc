import pg from 'pg';
import { UsageError } from './errors.ts';

/** The threads of a LangGraph `PostgresSaver`. */
export interface LangGraphSource {
  /** The ids of all its threads. */
  threadIds(): Promise<string[]>;
  checkpointer: import('@langchain/langgraph-checkpoint-postgres').PostgresSaver;
  close(): Promise<void>;
}

/** Opens it in sessions that cannot write. @throws UsageError without the package */
export async function openLangGraph(url: string, schema: string): Promise<LangGraphSource> {
  const { PostgresSaver } = await load();
  const pool = new pg.Pool({ connectionString: readOnly(url), max: 2 });
  // a connection that breaks while it is idle fails the next query
  pool.on('error', () => {});
  return {
    checkpointer: new PostgresSaver(pool, undefined, { schema }),
    close: () => pool.end(),
    async threadIds() {
      const table = `${pg.escapeIdentifier(schema)}.checkpoints`;
      try {
        const { rows } = await pool.query<{ id: string }>(`select distinct thread_id as id from ${table} order by 1`);
        return rows.map(({ id }) => id);
      } catch (error) {
        throw new UsageError(
          `Cannot read ${table}: ${(error as Error).message}`,
          'Pass the URL of the database that PostgresSaver writes to, and --schema unless it is public.',
        );
      }
    },
  };
}

/**
 * An option in the URL takes precedence over one beside it. A `set` statement would stay in the sessions that a pooler
 * shares with others.
 */
function readOnly(url: string): string {
  const [address, query] = url.split('?', 2);
  const parameters = new URLSearchParams(query);
  const options = [parameters.get('options'), '-c default_transaction_read_only=on'].filter(Boolean);
  parameters.set('options', options.join(' '));
  // readers of connection URLs do not take a plus for a space
  return `${address}?${String(parameters).replaceAll('+', '%20')}`;
}

async function load(): Promise<typeof import('@langchain/langgraph-checkpoint-postgres')> {
  try {
    return await import('@langchain/langgraph-checkpoint-postgres');
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new UsageError(
      'Reading LangGraph threads needs a package that is not installed.',
      'Run npm install @langchain/langgraph-checkpoint-postgres next to lanefold.',
    );
  }
}
