import type { OverrideCaller } from '../../../agent/definition/overridable.ts';
import type { AgentRegistry } from '../../../agent/definition/registry.ts';
import { assertId, newThreadId } from '../../../base/checks/ids.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { forkThread } from '../../../database/store/fork/fork-thread.ts';
import { createThread } from '../../../database/store/log/read-thread.ts';
import type { ForkReceipt } from '../../../database/store/log/types.ts';
import { assertStorable, promptOf } from '../../../base/checks/values.ts';
import { assertWhole } from '../../../base/checks/values.ts';
import { otherTenant } from '../access/tenant-scope.ts';
import { assertThreadOverrides } from '../runs/allow-overrides.ts';
import { requestHash } from '../runs/enqueue-request.ts';
import type { ForkOptions, NewThread } from './types.ts';

/** See `Threads.create`. */
export async function create(
  db: Database,
  agents: AgentRegistry,
  {
    id = newThreadId(),
    tenantId = db.tenant,
    systemPrompt,
    metadata,
    from = 'library',
  }: NewThread & { from?: OverrideCaller } = {},
): Promise<{ id: string; rev: number }> {
  assertId(id, 'The thread id');
  if (tenantId !== undefined && db.tenant !== undefined && tenantId !== db.tenant)
    throw otherTenant(tenantId, db.tenant);
  assertStorable({ systemPrompt, metadata }, 'The thread');
  assertThreadOverrides(agents, { systemPrompt }, from);
  return createThread(db, {
    id,
    tenantId,
    metadata,
    systemPrompt: systemPrompt === undefined ? undefined : promptOf(systemPrompt),
  });
}

/** See `Threads.fork`. `contents`: ids of large texts that the fork needs besides those its contexts quote. */
export async function fork(
  db: Database,
  agents: AgentRegistry,
  parentThreadId: string,
  options: ForkOptions & { from?: OverrideCaller } = {},
  contents?: string[],
): Promise<ForkReceipt> {
  const { id = newThreadId(), atSeq, contextRef, metadata, systemPrompt, repair, from = 'library' } = options;
  assertId(parentThreadId, 'The id of the parent');
  assertId(id, 'The thread id');
  if (contextRef !== undefined) assertId(contextRef, 'The context_ref');
  assertWhole(atSeq, 'atSeq', { minimum: -1, hint: 'Pass the seq of an entry, or -1 to begin empty.' });
  assertStorable({ metadata, systemPrompt }, 'The fork');
  assertThreadOverrides(agents, { systemPrompt }, from);
  const prompt = systemPrompt === undefined ? undefined : promptOf(systemPrompt);
  const hash = requestHash({ contextRef, repair: repair ?? false, metadata: metadata ?? {}, systemPrompt: prompt });
  return forkThread(
    db,
    parentThreadId,
    { atSeq, contextRef, repair, contents },
    { id, metadata, systemPrompt: prompt, requestHash: hash },
  );
}
