import { setMaxListeners } from 'node:events';
import { assertId } from '../../base/checks/ids.ts';
import { refuseUnknownKeys, type KeysOf } from '../../base/checks/unknown-keys.ts';
import type { JsonObject } from '../../agent/context/message.ts';
import { isLanefoldError, LanefoldError } from '../../base/errors.ts';
import { unlessGone } from '../../database/store/missing.ts';
import type { RunRef } from '../../database/store/run/run.ts';
import { isToStart, readStarted } from '../../database/store/wait/child-runs.ts';
import { Merge, openStream, type StreamDeps, type StreamItem, type StreamOptions } from './stream.ts';
import { untilReachable } from './feed.ts';
import { delay } from '../../base/common/timer.ts';
import type { Database } from '../../database/postgres/pool.ts';
import { parseJson } from '../../base/common/json.ts';

export interface TreeStreamOptions extends Pick<StreamOptions, 'deltas' | 'entries' | 'signal'> {
  /** Only what comes after the item with this `cursor`. Default: from the beginning. */
  after?: string;
}

/** An item of the stream of a tree. */
export interface TreeStreamItem {
  /** The run that the item belongs to. */
  run: RunRef;
  item: StreamItem;
  /** Resumes the stream after this item; only events have one. */
  cursor?: string;
}

/** An open stream of a tree; its run exists. */
export interface OpenTreeStream {
  items: AsyncGenerator<TreeStreamItem, void, void>;
  /** True if everything was delivered by `after`. */
  over: boolean;
}

const optionKeys: KeysOf<TreeStreamOptions> = { after: true, deltas: true, entries: true, signal: true };

/** How soon to look again whether a child run has started, in ms; the pause doubles. */
const firstLookMs = 100;
const maxLookMs = 2_000;

/**
 * Opens the stream of a run together with the runs that its tool calls start, and theirs. The events of one run come in
 * order, and every event comes once, over reconnects too. Ends once all of them have ended.
 *
 * @throws LanefoldError `thread_not_found`, `thread_erased`, `run_not_found`, `invalid_input`
 */
export async function openTreeStream(
  deps: StreamDeps,
  top: RunRef,
  { after, ...options }: TreeStreamOptions = {},
): Promise<OpenTreeStream> {
  refuseUnknownKeys('streamTree', { after, ...options }, optionKeys);
  assertId(top.threadId, 'The thread id');
  assertId(top.id, 'The run id');
  const { threadId, id } = top;
  const root = { threadId, id };
  const branches = after === undefined ? [{ ...root, after: -1 }] : await readTreeCursor(deps.db, root, after);
  const over = await Promise.all(branches.map((branch) => isOver(deps, branch)));
  return { items: follow(deps, root, branches, options), over: over.every(Boolean) };
}

async function* follow(
  deps: StreamDeps,
  top: RunRef,
  branches: Branch[],
  { signal, ...options }: Omit<TreeStreamOptions, 'after'>,
): AsyncGenerator<TreeStreamItem, void, void> {
  const left = new AbortController();
  const both = signal ? AbortSignal.any([signal, left.signal]) : left.signal;
  // every run adds a listener
  setMaxListeners(0, both);
  const open = new Set<Branch>();
  const merge = new Merge<Branch, StreamItem>();
  const add = (branch: Branch) => {
    open.add(branch);
    merge.add(branch, itemsOf(deps, branch, { ...options, signal: both }));
  };
  branches.forEach(add);
  try {
    for await (const { key: branch, item } of merge) {
      if (!item) {
        open.delete(branch);
        continue;
      }
      const run = { threadId: branch.threadId, id: branch.id };
      if (item.type !== 'event') {
        yield { run, item };
        continue;
      }
      branch.after = item.event.eventSeq;
      const child = startedBy(item.event.kind, item.event.data, branch);
      if (child) add(child);
      yield { run, item, cursor: encodeTreeCursor(top, open) };
      if (both.aborted) return;
    }
  } finally {
    left.abort();
  }
}

/** The events of one run, once it has started; none if it never does. */
async function* itemsOf(
  deps: StreamDeps,
  branch: Branch,
  options: StreamOptions,
): AsyncGenerator<StreamItem, void, void> {
  const { threadId, id, after, call } = branch;
  const { signal } = options;
  let pauseMs = firstLookMs;
  for (let last = false; !signal?.aborted;) {
    try {
      const { items } = await untilReachable(() => openStream(deps, threadId, id, { ...options, after }));
      return yield* items;
    } catch (error) {
      if (!call) throw error;
      unlessGone(error);
      if (isLanefoldError(error, 'thread_erased')) return;
    }
    if (last) return;
    // looked at before the run: it may start in between
    const child = { thread_id: threadId, run_id: id, parent_thread_id: call.parent.threadId };
    last = !(await untilReachable(() => isToStart(deps.db, child)));
    if (last) continue;
    await delay(pauseMs, { ref: false, ...(signal && { signal }) }).catch(() => {});
    pauseMs = Math.min(pauseMs * 2, maxLookMs);
  }
}

/** The run that a call has started; not one that it only waits for, nor the run of an earlier answer. */
function startedBy(kind: string, data: JsonObject, parent: Branch): Branch | undefined {
  if (kind !== 'wait_started') return undefined;
  const child = data['child'] as { thread_id: string; run_id: string; agent?: string; earlier?: true } | undefined;
  if (!child?.agent || child.earlier) return undefined;
  const call = { parent, round: data['round'] as number, index: data['index'] as number };
  return { threadId: child.thread_id, id: child.run_id, after: -1, call };
}

/** Whether every event of a run was delivered. @throws what `openStream` throws for the run at the top */
async function isOver(deps: StreamDeps, { threadId, id, after, call }: Branch): Promise<boolean> {
  const opening = openStream(deps, threadId, id, { after });
  if (!call) return (await opening).over;
  return (await opening.catch(unlessGone))?.over ?? false;
}

/** A run of a tree that a stream follows. */
interface Branch extends RunRef {
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
function encodeTreeCursor(top: RunRef, open: ReadonlySet<Branch>): string {
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
 * The runs that the stream of `top` follows next.
 *
 * @throws LanefoldError `invalid_input`: not a cursor, or the cursor of another tree
 */
async function readTreeCursor(db: Database, top: RunRef, cursor: string): Promise<Branch[]> {
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
