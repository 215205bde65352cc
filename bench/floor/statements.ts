import pg from 'pg';
import type { Row, WrittenRow } from '../support/written-rows.ts';
import type { Column, Template } from './prepare.ts';

/** The ids of one run. */
export interface Ids {
  threadId: string;
  runId: string;
}

export interface Statement {
  text: string;
  /** One array for each parameter, with an element for each run. */
  values(runs: Ids[]): string[][];
}

/** Merges what a set of writes does to the same row: only the last version is written. */
export function lastVersions(writes: WrittenRow[], columnsOf: Template['columns']): WrittenRow[] {
  const rows = new Map<string, WrittenRow>();
  for (const write of writes) {
    const key = columnsOf[write.table]!.filter(({ inPrimaryKey }) => inPrimaryKey).map(({ name }) => write.new[name]);
    const place = JSON.stringify([write.table, key]);
    rows.set(place, { ...write, old: rows.has(place) ? rows.get(place)!.old : write.old });
  }
  return [...rows.values()];
}

/** The statement that writes one commit of any number of runs. */
export function statementOf(commit: WrittenRow[], template: Template): Statement {
  const parameters = new Parameters(template);
  const writes = lastVersions(commit, template.columns).map((write) => {
    const columns = template.columns[write.table]!;
    return write.old ? updateOf(write, write.old, columns, parameters) : insertOf(write, columns, parameters);
  });
  const withs = writes.map((write, i) => `w${i} as (${write})`);
  return { text: `with ${withs.join(', ')} select`, values: (runs) => parameters.values(runs) };
}

function insertOf({ table, new: row }: WrittenRow, columns: Column[], parameters: Parameters): string {
  const written = columns.filter(({ name }) => row[name] !== null);
  const { sql, from } = parameters.select(written, row);
  return `insert into ${table} (${written.map(({ name }) => name).join(', ')}) select ${sql.join(', ')} from ${from}`;
}

function updateOf({ table, new: row }: WrittenRow, old: Row, columns: Column[], parameters: Parameters): string {
  const keys = columns.filter(({ inPrimaryKey }) => inPrimaryKey);
  const changed = columns.filter(({ name }) => JSON.stringify(row[name]) !== JSON.stringify(old[name]));
  const { sql, from } = parameters.select([...changed, ...keys], row);
  const set = changed.map(({ name }, i) => `${name} = ${sql[i]}`);
  const where = keys.map(({ name }, i) => `t.${name} = ${sql[changed.length + i]}`);
  return `update ${table} t set ${set.join(', ')} from ${from} where ${where.join(' and ')}`;
}

/** JSON and what names the run is sent for each run; all else is part of the statement. */
class Parameters {
  private readonly texts: string[] = [];

  constructor(private readonly template: Template) {}

  /** The columns' values as SQL, and what to select them from. */
  select(columns: Column[], row: Row): { sql: string[]; from: string } {
    const sent = new Map<string, string>();
    const send = (text: string) => {
      if (!this.texts.includes(text)) this.texts.push(text);
      const name = `p${this.texts.indexOf(text) + 1}`;
      sent.set(name, `$${name.slice(1)}::text[]`);
      return `u.${name}`;
    };
    const sql = columns.map(({ name, type }) => {
      const value = row[name];
      if (value === null) return 'null';
      const text = textOf(value);
      const isOfRun = text.includes(this.template.threadId) || text.includes(this.template.runId);
      if (isOfRun || type.startsWith('json')) return type === 'text' ? send(text) : `${send(text)}::${type}`;
      return type.startsWith('timestamp') ? 'now()' : `${pg.escapeLiteral(text)}::${type}`;
    });
    return { sql, from: `unnest(${[...sent.values()].join(', ')}) u (${[...sent.keys()].join(', ')})` };
  }

  values(runs: Ids[]): string[][] {
    return this.texts.map((text) => runs.map((ids) => withIds(text, this.template, ids)));
  }
}

export const textOf = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));

export const withIds = (text: string, { threadId, runId }: Ids, ids: Ids): string =>
  text.replaceAll(threadId, ids.threadId).replaceAll(runId, ids.runId);
