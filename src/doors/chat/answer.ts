import { LanefoldError } from '../../base/errors.ts';
import type { TenantLibrary } from '../../features/library/library.ts';
import { isTerminal } from '../../runs/streams/deltas.ts';
import type { StreamItem } from '../../runs/streams/stream-item.ts';
import { UiAnswer } from '../../runs/formats/ui-messages/answer.ts';
import { callName } from '../../base/checks/call.ts';
import type { UiChunk, UiMessage } from '../../runs/formats/ui-messages/message.ts';
import { replay } from '../../runs/formats/ui-messages/replay.ts';
import type { RunRef } from '../../database/store/run/run.ts';

export interface AnswerOptions {
  signal: AbortSignal;
  /**
   * The client already has the message up to the approvals of this round: send only the rest. Default: send all of it.
   */
  afterRound?: number | undefined;
}

/**
 * Opens the stream of an answer. It ends with the run, or as soon as the run waits for approval, because the AI SDK's
 * client sends its approval responses only after a stream has ended.
 *
 * @throws LanefoldError `run_not_found`, `thread_not_found`, `thread_erased`
 */
export async function openAnswer(
  lanefold: TenantLibrary,
  run: RunRef,
  { signal, afterRound }: AnswerOptions,
): Promise<AsyncGenerator<UiChunk>> {
  const { items } = await lanefold.streams.open(run.threadId, run.id, { entries: true, signal });
  return chunksOf(lanefold, run, items, { signal, afterRound });
}

async function* chunksOf(
  lanefold: TenantLibrary,
  run: RunRef,
  items: AsyncIterable<StreamItem>,
  { signal, afterRound }: AnswerOptions,
): AsyncGenerator<UiChunk> {
  const answer = new UiAnswer({ threadId: run.threadId, runId: run.id });
  const awaiting = new Set<string>();
  const known = new KnownPart(afterRound);
  for await (const item of items) {
    known.pass(item);
    for (const chunk of answer.add(item)) if (known.over || chunk.type === 'start') yield chunk;
    if (answer.over) return;
    if (item.type !== 'event') continue;
    const { kind, data } = item.event;
    if (kind !== 'approval_requested' && kind !== 'approval_decided') continue;
    const call = callName(data);
    if (kind === 'approval_requested') awaiting.add(call);
    else awaiting.delete(call);
    // only if the same calls wait now; a replayed event may show approvals decided long ago
    const now = await lanefold.runs.get(run);
    const open = now.status === 'suspended' ? now.awaiting.map(({ call }) => call) : [];
    if (open.length === 0 || open.length !== awaiting.size || !open.every((id) => awaiting.has(id))) continue;
    yield* answer.suspend(now.toolCalls);
    return;
  }
  if (signal.aborted) return;
  const recorded = known.round === undefined && (await recordedAnswer(lanefold, run));
  if (recorded) return yield* replay(recorded);
  throw new LanefoldError('lanefold_closed', 'The server stopped during the answer; the run continues.', {
    hint: 'Resume the stream.',
  });
}

/** The answer of a run that has ended, from the conversation: its trace was dropped. */
async function recordedAnswer(lanefold: TenantLibrary, { threadId, id }: RunRef): Promise<UiMessage | undefined> {
  const run = await lanefold.threads.runOf(threadId, id);
  if (!run?.ended) return undefined;
  const { data } = await lanefold.threads.uiMessages(threadId);
  return data.find((message) => message.id === id);
}

/** Skips the part of a message that the client already has: everything up to the approvals of a round. */
class KnownPart {
  over: boolean;
  #asked = false;

  constructor(readonly round: number | undefined) {
    this.over = round === undefined;
  }

  pass(item: StreamItem): void {
    if (this.over || item.type !== 'event') return;
    const { kind, data } = item.event;
    const asks = kind === 'approval_requested';
    if (asks && data['round'] === this.round) this.#asked = true;
    this.over = (this.#asked && !asks) || isTerminal(kind);
  }
}
