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
  const pool = new pg.Pool({ connectionString: url, max: 2, options: '-c default_transaction_read_only=on' });
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
