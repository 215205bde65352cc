import { toCamelCase } from '../../base/common/case.ts';
import type { Database } from '../postgres/pool.ts';

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
