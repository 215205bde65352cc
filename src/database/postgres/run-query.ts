import { fromPostgres } from './errors.ts';
import { QueryWithSettings, type Setting, type StatementConfig } from './query-with-settings.ts';
import { channel } from 'node:diagnostics_channel';

/** The part of a connection we use: a `pg.Pool`, a client inside a transaction or a test double will do. */
export interface Queryable {
  query(query: { text: string; values?: unknown[]; name?: string }): Promise<{ rows: Record<string, unknown>[] }>;
}

/** Runs a statement, with settings that hold for it alone. Rejects with a `LanefoldError`. */
export async function runQuery<Row>(
  on: Queryable,
  query: StatementConfig & { values: unknown[] },
  settings: readonly Setting[] = [],
): Promise<Row[]> {
  try {
    return (await on.query(settings.length > 0 ? new QueryWithSettings(query, settings) : query)).rows as Row[];
  } catch (error) {
    throw fromPostgres(error, threadOf(query));
  }
}

/** The thread of a call to one of our functions, whose first argument it is. */
const threadOf = ({ text, values }: { text: string; values: unknown[] }): string | undefined =>
  /^(with act as materialized \()?select ([\w, .:]+ from )?lanefold\.\w+\(\$1\b/.test(text) &&
  typeof values[0] === 'string'
    ? values[0]
    : undefined;

/** A statement as a process sends it. */
export interface SentStatement {
  /** The name of the prepared statement. */
  name: string;
  /** Its arguments; of a statement that is shared, the one item of this call, as JSON. */
  values: readonly unknown[];
  /** Its rows; of a shared statement, the row that answers the item. */
  answer: Promise<unknown>;
}

const sent = channel('lanefold.statement');

/** Tells listeners of a statement in the same turn of the event loop, before it can be answered. */
export function announce<Answer>(
  name: string,
  values: readonly unknown[] | undefined,
  answer: Promise<Answer>,
): Promise<Answer> {
  if (sent.hasSubscribers) sent.publish({ name, values: values ?? [], answer } satisfies SentStatement);
  return answer;
}

/** Listens to the statements of all databases of this process, until the returned function is called. */
export function onStatement(listener: (statement: SentStatement) => void): () => void {
  const receive = (message: unknown) => listener(message as SentStatement);
  sent.subscribe(receive);
  return () => void sent.unsubscribe(receive);
}
