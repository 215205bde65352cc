import pg from 'pg';
import { lastVersions, textOf, withIds, type Ids } from './statements.ts';
import type { Template } from './prepare.ts';

interface CopyConnection {
  sendCopyFromChunk(data: Buffer): void;
  endCopyFrom(): void;
}

/** `pg` calls this method of a query once the server is ready to receive. */
class CopyIn extends (pg.Query as unknown as new (text: string, callback: (error: Error | null) => void) => pg.Query) {
  constructor(
    text: string,
    private readonly data: Buffer,
    callback: (error: Error | null) => void,
  ) {
    super(text, callback);
  }

  handleCopyInResponse(connection: CopyConnection): void {
    connection.sendCopyFromChunk(this.data);
    connection.endCopyFrom();
  }
}

const escape = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\t', '\\t');

/** Writes the rows of ended runs with COPY, in one transaction. */
export function copyOf(template: Template): (client: pg.PoolClient, runs: Ids[]) => Promise<void> {
  const rows = lastVersions(template.commits.flat(), template.columns);
  const tables = [...new Set(rows.map(({ table }) => table))].map((table) => {
    const columns = template.columns[table]!.map(({ name }) => name);
    const lines = rows
      .filter((row) => row.table === table)
      .map(({ new: row }) =>
        columns.map((name) => (row[name] === null ? '\\N' : escape(textOf(row[name])))).join('\t'),
      );
    return { text: `copy ${table} (${columns.join(', ')}) from stdin`, lines: `${lines.join('\n')}\n` };
  });
  return async (client, runs) => {
    await client.query('begin');
    for (const { text, lines } of tables) {
      const data = Buffer.from(runs.map((ids) => withIds(lines, template, ids)).join(''));
      await new Promise<void>((resolve, reject) => {
        client.query(new CopyIn(text, data, (error) => (error ? reject(error) : resolve())));
      });
    }
    await client.query('commit');
  };
}
