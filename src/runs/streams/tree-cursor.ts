import { LanefoldError } from '../../base/errors.ts';
import type { Database } from '../../database/postgres/pool.ts';
import type { RunRef } from '../../database/store/run/run.ts';
import { readStarted } from '../../database/store/wait/child-runs.ts';
import { parseJson } from '../../base/common/json.ts';

/** A run of a tree that a stream follows. */
export interface Branch extends RunRef {
  /** `eventSeq` of its last event that was delivered; -1: none. */
  after: number;
  /** The call that started it; absent for the run at the top. */
  call?: { parent: Branch; round: number; index: number };
}

/** Instead of `after`: all events of this run were delivered; it is there for the runs below it. */
const over = -2;

/** The place of its parent among the rows, round and index of its call, and `after`; the run at the top has only `after`. */
type Row = [after: number] | [parent: number, round: number, index: number, after: number];

/**
 * How far the stream of a tree has come: the runs that it still follows, and how far each has come. It goes into a header,
 * whose size is limited, so runs are named by their calls.
 */
export function encodeTreeCursor(top: RunRef, open: ReadonlySet<Branch>): string {
  const rows: Row[] = [];
  const places = new Map<Branch, number>();
  const placeOf = (branch: Branch): number => {
    const known = places.get(branch);
    if (known !== undefined) return known;
    const after = open.has(branch) ? branch.after : over;
    const { call } = branch;
    rows.push(call ? [placeOf(call.parent), call.round, call.index, after] : [after]);
    places.set(branch, rows.length - 1);
    return rows.length - 1;
  };
  for (const branch of open) placeOf(branch);
  return Buffer.from(JSON.stringify([top.id, ...rows])).toString('base64url');
}

/**
 * The runs that the stream of `top` goes on with.
 *
 * @throws LanefoldError `invalid_input`: it is no cursor, or that of another tree
 */
export async function readTreeCursor(db: Database, top: RunRef, cursor: string): Promise<Branch[]> {
  const [id, rows] = decode(cursor);
  if (id !== top.id) throw ofAnotherTree();
  const branches: Branch[] = [];
  const started = new Map<Branch, ReturnType<typeof readStarted>>();
  for (const row of rows) {
    if (row.length === 1) {
      branches.push({ ...top, after: row[0] });
      continue;
    }
    const [place, round, index, after] = row;
    const parent = branches[place]!;
    if (!started.has(parent)) started.set(parent, readStarted(db, parent));
    const child = (await started.get(parent)!).get(`${round}.${index}`);
    if (!child) throw ofAnotherTree();
    branches.push({ ...child, after, call: { parent, round, index } });
  }
  return branches.filter(({ after }) => after !== over);
}

function decode(cursor: string): [id: string, rows: Row[]] {
  let read: unknown;
  try {
    read = parseJson(Buffer.from(cursor, 'base64url').toString());
  } catch {
    read = undefined;
  }
  const [id, ...rows] = Array.isArray(read) ? (read as unknown[]) : [];
  if (typeof id === 'string' && rows.every(isRow) && rows.some((row) => row.at(-1) !== over)) return [id, rows];
  throw new LanefoldError('invalid_input', 'The cursor is not that of a stream of a tree.', {
    hint: 'Pass the cursor of an item that the stream has delivered, or omit it to begin with the first event.',
  });
}

/** The run at the top comes first, and every parent before its children. */
const isRow = (value: unknown, place: number): value is Row =>
  Array.isArray(value) &&
  value.every(Number.isSafeInteger) &&
  value.at(-1) >= over &&
  (place === 0 ? value.length === 1 : value.length === 4 && value[0] >= 0 && value[0] < place);

const ofAnotherTree = () =>
  new LanefoldError('invalid_input', 'The cursor is that of another tree.', {
    hint: 'Pass the cursor of an item that the stream of this run has delivered.',
  });
