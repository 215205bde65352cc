import { open, type FileHandle } from 'node:fs/promises';
import { maxRequestDepth, readJson as parse } from '../../base/common/json.ts';
import { UsageError } from './errors.ts';
import pg from 'pg';

/** Opens a file that an option names. */
async function opened(file: string): Promise<FileHandle> {
  try {
    return await open(file);
  } catch (error) {
    throw new UsageError(`Cannot read ${file}: ${(error as Error).message}`, 'Pass the path of a readable file.');
  }
}

export async function readText(file: string): Promise<string> {
  const handle = await opened(file);
  try {
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

/** The JSON values of a file with one value per line. */
export async function* readJsonLines(file: string): AsyncGenerator<unknown, void, void> {
  const handle = await opened(file);
  for await (const text of handle.readLines()) {
    if (text.trim() === '') continue;
    const read = parse(text, maxRequestDepth);
    if (!read.ok && read.kind !== 'syntax')
      throw new UsageError(`A line of ${file} cannot be read. ${read.problem}`, 'Correct the file.');
    if (!read.ok)
      throw new UsageError(`${file} has a line that is not JSON.`, 'Pass a file with one JSON value on each line.');
    yield read.value;
  }
}

/** The lines of a file, or of standard input for `-`. Only a line feed ends a line. */
export async function* readLines(file: string): AsyncGenerator<string, void, void> {
  const stream = file === '-' ? process.stdin : (await opened(file)).createReadStream();
  const lines = new LineSplitter();
  for await (const chunk of stream.setEncoding('utf8') as AsyncIterable<string>) yield* lines.push(chunk);
  const rest = lines.rest();
  if (rest !== '') yield rest;
}

/** The JSON value of a file, or of standard input for `-`. */
export async function readJson(file: string): Promise<unknown> {
  const lines: string[] = [];
  for await (const line of readLines(file)) lines.push(line);
  const read = parse(lines.join('\n'), maxRequestDepth);
  if (read.ok) return read.value;
  if (read.kind !== 'syntax') throw new UsageError(`${file} cannot be read. ${read.problem}`, 'Correct the file.');
  throw new UsageError(`${file} is not JSON: ${read.problem}`, 'Pass a file with one JSON value.');
}

/** The threads of a LangGraph `PostgresSaver`. */
interface LangGraphSource {
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

/** Cuts a text that comes in pieces into lines, which end with a line feed. Searches each piece once, however long a line is. */
export class LineSplitter {
  #begun: string[] = [];

  /** The lines that end in this piece. */
  push(piece: string): string[] {
    const lines = piece.split('\n');
    const last = lines.pop()!;
    if (lines.length > 0) {
      lines[0] = this.#begun.join('') + lines[0]!;
      this.#begun = [];
    }
    if (last !== '') this.#begun.push(last);
    return lines;
  }

  /** What came after the last line; empties it. */
  rest(): string {
    const rest = this.#begun.join('');
    this.#begun = [];
    return rest;
  }
}
