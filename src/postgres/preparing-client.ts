import type pg from 'pg';
import { QuietClient } from './quiet-client.ts';

type Callback = (error: Error, result: pg.QueryResult) => void;

/** SQLSTATE of a prepared statement whose result columns have changed, as after an upgrade of the schema. */
const planOutdated = '0A000';

const names = new Map<string, string>();

function nameOf(text: string): string {
  const name = names.get(text) ?? `prepared_${names.size}`;
  names.set(text, name);
  return name;
}

/** A client that prepares every statement with parameters, for a library that sends the same few texts unprepared. */
export class PreparingClient extends QuietClient {
  #prepares = true;

  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- of six overloads, this concerns one
  override query(...args: any[]): any {
    const send = super.query.bind(this) as (...args: unknown[]) => unknown;
    const [text, values, callback] = args as [string, unknown[], Callback];
    if (!this.#prepares || typeof text !== 'string' || !Array.isArray(values) || typeof callback !== 'function') {
      return send(...args);
    }
    return send({ name: nameOf(text), text, values }, (error: Error & { code?: string }, result: pg.QueryResult) => {
      if (error?.code !== planOutdated) return callback(error, result);
      this.#prepares = false;
      send(text, values, callback);
    });
  }
}
