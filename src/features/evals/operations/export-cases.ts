import { assertId } from '../../../base/checks/ids.ts';
import { canonicalMessage, contextHash } from '../../../agent/context/canonical.ts';
import type { Message } from '../../../agent/context/message.ts';
import { writeCaseLine } from '../cases/case-line.ts';
import { readContext } from '../../../database/store/context/read-context.ts';
import { listCases, type StoredCase } from '../store/cases.ts';
import { readSentCall, unverifiedReason } from '../../../runs/operations/contexts/calls.ts';
import { unverified, type KeepDeps } from './keep.ts';
import type { ExportedCases } from './methods.ts';

/** See `Cases.export`. */
export async function* exportCases(
  deps: KeepDeps,
  dataset: string,
  tenant: string,
): AsyncGenerator<string, ExportedCases, void> {
  assertId(dataset, 'The dataset');
  const counts = { cases: 0, erased: 0 };
  for (let after: string | null | undefined; after !== null;) {
    const page = await listCases(deps.db, { dataset, after, limit: 100 });
    for (const found of page.data) {
      if (found.tenant !== tenant) continue;
      counts[found.erasedAt ? 'erased' : 'cases'] += 1;
      if (!found.erasedAt) yield lineOf(found, await messagesOf(deps, found));
    }
    after = page.nextAfter;
  }
  return counts;
}

const lineOf = ({ agent, model, kind, expected, tags, split, note }: StoredCase, messages: Message[]): string =>
  writeCaseLine({ messages, contextHash: contextHash(messages), agent, model, kind, expected, tags, split, note });

/** What was sent, without the instructions of an output contract: an agent that has one adds them again. */
async function messagesOf(deps: KeepDeps, { threadId, contextRef, seq, llmCallId }: StoredCase): Promise<Message[]> {
  if (llmCallId === null) return (await readContext(deps.db, threadId, contextRef, seq)).map(canonicalMessage);
  const { call, agent, rows, verified } = await readSentCall(deps, threadId, llmCallId);
  if (!verified) throw unverified(llmCallId, unverifiedReason(call.refs, agent));
  return rows.map(canonicalMessage);
}
