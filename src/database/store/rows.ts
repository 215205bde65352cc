import { LanefoldError } from '../../base/errors.ts';
import type { Database } from '../postgres/pool.ts';
import { toCamelCase } from '../../base/common/case.ts';
import { pageOf } from '../../base/common/page.ts';

/** A page of a list. */
export interface ListPage<T> {
  data: T[];
  /**
   * Where the next page begins: pass it as `after`. Null on the last page. A page of a filtered list may be short, or
   * empty, before the last one, because each request looks at a bounded number of rows.
   */
  nextAfter: string | null;
}

/** The place of a row in a list: its microsecond, and its ids, which keep rows of the same microsecond apart. */
export type Cursor = [micros: string, ...ids: string[]];

/** A cursor as callers pass it. Ids contain no slash. */
export const cursorText = (cursor: Cursor): string => cursor.join('/');

/** A page of rows that are sorted by a time, whose `micros` they have, and by ids. There is up to one row more than `limit`. */
export function pageByTime<Row extends { micros: string }>(
  rows: readonly Row[],
  limit: number,
  idsOf: (last: Row) => string[],
): ListPage<Omit<Row, 'micros'>> {
  const { data, nextAfter } = pageOf(rows, limit, (last) => cursorText([last.micros, ...idsOf(last)]));
  return { data: data.map(({ micros: _, ...row }) => row), nextAfter };
}

/** @throws LanefoldError `invalid_input` */
export function readCursor(text: string | undefined, ids: number): Cursor | undefined {
  const parts = readIds(text, ids + 1);
  if (text !== undefined && !/^-?\d{1,18}$/.test(parts![0]!)) throw invalidCursor(text);
  return parts as Cursor | undefined;
}

/** The cursor of a list that is sorted by ids alone. @throws LanefoldError `invalid_input` */
export function readIds(text: string | undefined, ids: number): string[] | undefined {
  const parts = text?.split('/');
  if (parts && (parts.length !== ids || text!.includes('\0'))) throw invalidCursor(text!);
  return parts;
}

export const invalidCursor = (text: string): LanefoldError =>
  new LanefoldError('invalid_input', `${JSON.stringify(text.slice(0, 80))} is not a valid cursor.`, {
    hint: 'Pass the next_after of the previous page, unchanged.',
  });

/** Collects the conditions of a filtered statement with their parameters. */
export class Conditions {
  readonly values: unknown[] = [];
  /** One letter for each condition present: tells prepared statements apart. */
  key = '';
  readonly #parts: string[] = [];

  /** Adds a condition, unless the value is undefined; `$` stands for the parameter. */
  add(letter: string, condition: string, value: unknown): this {
    if (value === undefined) return this;
    this.values.push(value);
    this.key += letter;
    this.#parts.push(condition.replaceAll('$', () => `$${this.values.length}`));
    return this;
  }

  /**
   * As `add`, for a value that a few rows have, or most of them, such as the words of a search: no plan suits both, so a
   * statement with it has no name.
   */
  addVaried(letter: string, condition: string, value: unknown): this {
    return this.add(`${varied}${letter}`, condition, value);
  }

  /** Adds a condition without a parameter. */
  fixed(letter: string, condition: string): this {
    this.key += letter;
    this.#parts.push(condition);
    return this;
  }

  /** Adds a parameter without a condition, and returns its placeholder. */
  value(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  toString(): string {
    return this.#parts.length > 0 ? this.#parts.join(' and ') : 'true';
  }
}

/** Marks the key of a condition that `addVaried` added. */
const varied = '~';

/** The name of a statement with conditions of these keys; empty: it is planned for its values each time. */
export const statementName = (statement: string, ...keys: readonly string[]): string =>
  keys.some((key) => key.includes(varied)) ? '' : [statement, ...keys].join('_');

export const microsSql = (column: string): string => `(extract(epoch from ${column}) * 1000000)::bigint::text`;

export const timestampSql = (parameter: string): string =>
  `(timestamptz 'epoch' + ${parameter}::bigint * interval '1 microsecond')`;

/** The limit on a lane's context, as the database functions take it; empty for their default. */
export const contextLimit = ({ settings }: Database): { max_context_bytes?: number } =>
  settings.maxContextBytes === undefined ? {} : { max_context_bytes: settings.maxContextBytes };

/** A moment in JSON is text, under one of these names. In a column it is a `Date` already. */
const moment = /(?:^|_)(?:at|since|until)$/;

interface Field {
  name: string;
  isMoment: boolean;
}

const fields = new Map<string, Field>();

/** How a column is named in TypeScript; statements have a few hundred different columns. */
function fieldOf(column: string): Field {
  let field = fields.get(column);
  if (!field) fields.set(column, (field = { name: toCamelCase(column), isMoment: moment.test(column) }));
  return field;
}

/**
 * What the database answers has its keys in snake_case, rows and JSON alike; this is the one reader that makes camelCase
 * of them, and a `Date` of a moment in JSON. Nested values stay as they are.
 */
export function fromRow<Row>(row: object): Row {
  const read: Record<string, unknown> = {};
  for (const [column, value] of Object.entries(row)) {
    const { name, isMoment } = fieldOf(column);
    read[name] = isMoment && typeof value === 'string' ? new Date(value) : value;
  }
  return read as Row;
}

/** `fromRow` for each; null, which aggregates return for no rows, means none. */
export const fromRows = <Row>(rows: readonly object[] | null | undefined): Row[] => (rows ?? []).map(fromRow<Row>);

/** Runs a statement, and reads its rows. */
export const readRows = async <Row>(
  db: Pick<Database, 'query'>,
  name: string,
  text: string,
  values?: unknown[],
): Promise<Row[]> => fromRows<Row>(await db.query<object>(name, text, values));
