import type { Counting } from '../../../agent/models/counting.ts';
import { assertId } from '../../../base/checks/ids.ts';
import { assertStorable } from '../../../base/checks/values.ts';
import { LanefoldError } from '../../../base/errors.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { readContent } from '../../../database/store/content/read-content.ts';
import { listThreads } from '../../../database/store/log/list-threads.ts';
import { readEntries } from '../../../database/store/log/read-entries.ts';
import { readThread, readThreadSpent } from '../../../database/store/log/read-thread.ts';
import type { ContentRange, ThreadEntry, ThreadFilter } from '../../../database/store/log/types.ts';
import type { ListPage } from '../../../database/store/rows.ts';
import { readMarks } from '../../../database/store/run/read-marks.ts';
import type { RunMark } from '../../../database/store/trace/types.ts';
import { costOf } from '../runs/cost.ts';
import type { EntriesOptions, EntryPage, Thread, ThreadSummary } from './types.ts';

const pageBytes = 4 * 1024 * 1024;
const maxMarkedRuns = 100;

export async function getThread(db: Database, counting: Counting, id: string): Promise<Thread> {
  assertId(id, 'The thread id');
  const [thread, spent] = await Promise.all([readThread(db, id), readThreadSpent(db, id)]);
  return { ...thread, ...(await costOf(counting, spent)) };
}

export async function pageOfThreads(
  db: Database,
  counting: Counting,
  { limit = 50, ...filter }: ThreadFilter = {},
): Promise<ListPage<ThreadSummary>> {
  assertStorable(filter, 'The filter');
  const { data, nextAfter } = await listThreads(db.reader, { ...filter, limit });
  const priced = data.map(async ({ spent, ...thread }) => ({ ...thread, ...(await costOf(counting, spent)) }));
  return { data: await Promise.all(priced), nextAfter };
}

export async function entriesOf(
  db: Database,
  id: string,
  { after = -1, kind, contextRef, limit = 100 }: EntriesOptions = {},
): Promise<ThreadEntry[]> {
  assertId(id, 'The thread id');
  return (await readEntries(db, id, { after, kind, contextRef, limit })).entries;
}

export async function entryPage(
  db: Database,
  id: string,
  { after = -1, kind, contextRef, limit = 100, maxBytes = pageBytes }: EntriesOptions & { maxBytes?: number } = {},
): Promise<EntryPage> {
  assertId(id, 'The thread id');
  const { entries, cut } = await readEntries(db, id, { after, kind, contextRef, limit: limit + 1, maxBytes });
  if (entries.length === 0) await readThread(db, id);
  const data = entries.slice(0, limit);
  return { data, nextAfter: cut || entries.length > limit ? data.at(-1)!.seq : null };
}

export async function contentOf(
  db: Database,
  id: string,
  contentId: string,
  range: { offset?: number; length?: number } = {},
): Promise<ContentRange> {
  assertId(id, 'The thread id');
  assertId(contentId, 'The content id');
  return readContent(db, id, contentId, range);
}

export async function marksOf(db: Database, id: string, runIds: readonly string[]): Promise<RunMark[]> {
  assertId(id, 'The thread id');
  for (const runId of runIds) assertId(runId, 'The run id');
  if (runIds.length > maxMarkedRuns) {
    throw new LanefoldError('invalid_input', `Marks of ${runIds.length} runs were requested at once.`, {
      hint: `Request those of at most ${maxMarkedRuns} runs at a time.`,
    });
  }
  const found = await readMarks(db, { threadId: id, runIds });
  if (found.length === 0) await readThread(db, id);
  return found;
}
