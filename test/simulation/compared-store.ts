import { inspect as show, isDeepStrictEqual } from 'node:util';
import { isLanefoldError } from '../../src/base/errors.ts';
import type { SnapshotRow } from '../../src/ops/chaos/recording/conclude.ts';
import type { Model } from './model/model.ts';
import type { Body } from './model/state.ts';
import type { Statement, Store } from './store.ts';
import type { Inside } from './world/invariants.ts';

/** Executes everything twice: by the functions of the database, whose answers count, and by the model. */
export class ComparedStore implements Store {
  /** The first difference; what follows it is not compared. */
  difference: string | undefined;

  constructor(
    private readonly sql: Omit<Store, 'inside'>,
    private readonly model: Model,
  ) {}

  get inside(): Inside {
    return this.model;
  }

  async execute(at: number, statement: Statement): Promise<Body[]> {
    const found = await settled(() => this.sql.execute(at, statement));
    let order: Body[] | undefined;
    if (this.difference === undefined) {
      const expected = await settled(() => this.model.execute(at, statement));
      this.#compare(
        statement.name,
        statement.values,
        comparable(statement.name, expected),
        comparable(statement.name, found),
      );
      if (this.difference === undefined && 'rows' in expected) order = expected.rows;
    }
    if ('error' in found) throw found.error;
    return order && found.rows.length > 1 && keyed(found.rows) ? inOrderOf(order, found.rows) : found.rows;
  }

  async restarted(at: number): Promise<void> {
    await this.sql.restarted(at);
    this.model.restarted(at);
  }

  async snapshot(threadId: string): Promise<SnapshotRow> {
    const found = await this.sql.snapshot(threadId);
    if (this.difference === undefined)
      this.#compare('snapshot', [threadId], plain(this.model.snapshot(threadId)), plain(found));
    return found;
  }

  async trace(threadId: string): Promise<string[]> {
    const found = await this.sql.trace(threadId);
    if (this.difference === undefined) this.#compare('trace', [threadId], this.model.trace(threadId), found);
    return found;
  }

  async unfinished(): Promise<number> {
    const found = await this.sql.unfinished();
    if (this.difference === undefined) this.#compare('unfinished', [], this.model.unfinished(), found);
    return found;
  }

  #compare(statement: string, values: readonly unknown[], expected: unknown, found: unknown): void {
    if (isDeepStrictEqual(expected, found)) return;
    this.difference = `${statement} ${inspect(values)} answers ${inspect(found)}, not ${inspect(expected)}`;
  }
}

const inspect = (value: unknown): string => show(value, { depth: 12, breakLength: 160 });

type Settled = { rows: Body[] } | { error: unknown };

async function settled(execute: () => Body[] | Promise<Body[]>): Promise<Settled> {
  try {
    return { rows: await execute() };
  } catch (error) {
    return { error };
  }
}

/** Rows that are only notices. */
const untold = new Set(['mark_jobs_seen', 'report_worker']);

/** What two answers have to agree on: of an error its code, and sets of rows whatever their order. */
function comparable(name: string, settled: Settled): unknown {
  if ('error' in settled) return isLanefoldError(settled.error) ? settled.error.code : String(settled.error);
  if (untold.has(name)) return [];
  const rows = settled.rows.map((row) => plain(row['error'] ? { error: row['error'].code } : row)) as Body[];
  return name === 'attempts' || name === 'use_limits' ? rows : rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** Sets of runs have no order of their own. */
const keyed = (rows: readonly Body[]): boolean =>
  rows.every((row) => row['thread_id'] !== undefined && row['run_id'] !== undefined);

const inOrderOf = (order: readonly Body[], rows: readonly Body[]): Body[] =>
  order.map((row) => rows.find((other) => keyOf(other) === keyOf(row))!);

const keyOf = ({ thread_id, run_id }: Body): string => `${thread_id} ${run_id}`;

const moment = /^\d{4}-\d\d-\d\d[T ][\d:.]+(Z|[+-]\d\d(:\d\d)?)$/;

/** Null and absent are one, and so are two spellings of a moment. */
export function plain(value: unknown): unknown {
  if (typeof value === 'string') return moment.test(value) ? Date.parse(value) : value;
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Date) return value.getTime();
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).flatMap(([key, own]) => (own == null ? [] : [[key, plain(own)] as const]));
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
