import type { Database } from '../../../database/postgres/pool.ts';
import { readContent } from '../../../database/store/content/read-content.ts';
import { readThread } from '../../../database/store/log/read-thread.ts';
import {
  assertNotDistributed,
  exportEntries,
  exportRuns,
  laneDigests,
  waitingRuns,
} from '../../../database/store/portable/read-export.ts';
import { LineWriter } from './line.ts';
import { exportVersion } from './read-export.ts';

/** The lines of an export: the thread, its entries, each after the large texts it quotes, its runs, and the head. */
export async function* writeExport(db: Database, threadId: string): AsyncGenerator<string, void, void> {
  const thread = await readThread(db, threadId);
  assertNotDistributed(db);
  const writer = new LineWriter();
  const write = (type: string, fields: object) => writer.write(type, JSON.stringify(fields));
  yield write('thread', {
    format: 'lanefold',
    version: exportVersion,
    id: thread.id,
    tenant_id: thread.tenantId,
    entries: thread.rev,
    active_context_ref: thread.activeContextRef,
    metadata: thread.metadata,
    parent_thread_id: thread.parentThreadId,
    fork_seq: thread.forkSeq,
    created_at: thread.createdAt,
  });
  const written = new Set<string>();
  let chain: string | null = null;
  for await (const entry of exportEntries(db, thread)) {
    for (const id of entry.contents) {
      if (written.has(id)) continue;
      written.add(id);
      yield write('content', { id, text: (await readContent(db, threadId, id)).text });
    }
    ({ chain } = entry);
    yield writer.write('entry', entry.row);
  }
  let runs = 0;
  for await (const run of exportRuns(db, thread)) {
    runs += 1;
    yield writer.write('run', run);
  }
  yield write('head', {
    entries: thread.rev,
    contents: written.size,
    runs,
    chain,
    waiting_runs: await waitingRuns(db, thread),
    lanes: await laneDigests(db, thread),
  });
}
