import type { OverrideCaller } from '../../../agent/definition/overridable.ts';
import type { AgentRegistry } from '../../../agent/definition/registry.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import { assertId, newThreadId } from '../../../base/checks/ids.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { forkThread, type ForkReceipt } from '../../../database/store/fork/fork-thread.ts';
import { assertStorable, promptOf } from '../../../base/checks/text.ts';
import { assertWhole } from '../../../base/checks/whole-number.ts';
import { assertThreadOverrides } from '../runs/allow-overrides.ts';
import { requestHash } from '../runs/enqueue-request.ts';

export interface ForkOptions {
  /** Default: a new id. Repeating the id with the same parent, `seq` and options returns the same fork. */
  id?: string;
  /** The last entry that the fork takes over; -1: none. Default: the parent's last entry. */
  seq?: number;
  /** Only this lane, which becomes the active one. Default: all lanes except those of strategies' questions. */
  contextRef?: string;
  /** Metadata of the fork; the parent's is not copied. */
  metadata?: JsonObject;
  /** Replaces the prompts of all lanes; null: none. */
  systemPrompt?: string | null;
  /** Closes an open tool group with flagged error results, instead of throwing `open_tool_group`. */
  repair?: boolean;
}

/** See `Threads.fork`. `contents`: ids of large texts that the fork needs besides those its contexts quote. */
export async function fork(
  db: Database,
  agents: AgentRegistry,
  parentThreadId: string,
  { id = newThreadId(), seq, contextRef, metadata, systemPrompt, repair }: ForkOptions,
  from: OverrideCaller,
  contents?: string[],
): Promise<ForkReceipt> {
  assertId(parentThreadId, 'The id of the parent');
  assertId(id, 'The thread id');
  if (contextRef !== undefined) assertId(contextRef, 'The context_ref');
  assertWhole(seq, 'seq', { minimum: -1, hint: 'Pass the seq of an entry, or -1 to begin empty.' });
  assertStorable({ metadata, systemPrompt }, 'The fork');
  assertThreadOverrides(agents, { systemPrompt }, from);
  const prompt = systemPrompt === undefined ? undefined : promptOf(systemPrompt);
  const hash = requestHash({ contextRef, repair: repair ?? false, metadata: metadata ?? {}, systemPrompt: prompt });
  return forkThread(
    db,
    parentThreadId,
    { seq, contextRef, repair, contents },
    { id, metadata, systemPrompt: prompt, requestHash: hash },
  );
}
