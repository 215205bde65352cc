import { LanefoldError, isLanefoldError } from '../../base/errors.ts';
import type { TenantLibrary } from '../../features/library/library.ts';
import { isTerminal } from '../../runs/streams/deltas.ts';
import type { StreamItem } from '../../runs/streams/stream.ts';
import { UiAnswer } from '../../runs/formats/ui-messages/answer.ts';
import { callName } from '../../base/checks/call-name.ts';
import type { UiChunk, UiMessage } from '../../runs/formats/ui-messages/message.ts';
import { replay } from '../../runs/formats/ui-messages/history.ts';
import type { RunRef } from '../../database/store/run/run.ts';
import { invalidRequest } from '../../server/problem.ts';
import { wordOf } from '../../base/checks/values.ts';
import type { JsonObject } from '../../agent/context/message.ts';

interface AnswerOptions {
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
  const approvals = new Set<string>();
  const known = new KnownPart(afterRound);
  for await (const item of items) {
    known.pass(item);
    for (const chunk of answer.add(item)) if (known.over || chunk.type === 'start') yield chunk;
    if (answer.over) return;
    if (item.type !== 'event') continue;
    const { kind, data } = item.event;
    if (kind !== 'approval_requested' && kind !== 'approval_decided') continue;
    const call = callName(data);
    if (kind === 'approval_requested') approvals.add(call);
    else approvals.delete(call);
    // only if the same calls wait now; a replayed event may show approvals decided long ago
    const now = await lanefold.runs.get(run);
    const open = now.status === 'suspended' ? now.approvals.map(({ call }) => call) : [];
    if (open.length === 0 || open.length !== approvals.size || !open.every((id) => approvals.has(id))) continue;
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

/** Limited because each response is a locking call to the database. */
const maxResponses = 128;

interface Response {
  call: string;
  round: number;
  approved: boolean;
  reason: string | undefined;
}

/**
 * Applies the approval responses in a client's message, and returns the round of the calls. The first decision counts,
 * so a late one changes nothing: the answer's stream shows what was decided.
 *
 * @throws LanefoldError `invalid_request`, `run_not_found`, `tool_call_not_found`
 */
export async function decideApprovals(
  lanefold: TenantLibrary,
  run: RunRef,
  message: JsonObject,
  by: string | undefined,
): Promise<number> {
  const responses = readResponses(message);
  for (const { call, approved, reason } of responses) {
    const options = { ...(by === undefined ? {} : { by }), ...(reason === undefined ? {} : { reason }) };
    const decide = approved ? lanefold.runs.approve : lanefold.runs.deny;
    await decide(run, call, options).catch((error: unknown) => {
      if (!isLanefoldError(error, 'already_decided') && !isLanefoldError(error, 'not_awaiting_approval')) throw error;
    });
  }
  return Math.max(...responses.map(({ round }) => round));
}

function readResponses({ parts }: JsonObject): Response[] {
  const responses = new Map<string, Response>();
  for (const part of Array.isArray(parts) ? parts : []) {
    const { state, approval } = Object(part) as JsonObject;
    if (state !== 'approval-responded') continue;
    const { id, approved, reason } = Object(approval) as JsonObject;
    const place = /^(\d{1,4})\.\d{1,4}$/.exec(wordOf(id));
    if (!place || typeof approved !== 'boolean' || (reason != null && typeof reason !== 'string'))
      throw invalidRequest([
        { path: 'message.parts', message: 'An approval needs an id and approved: true or false.' },
      ]);
    const [call, round] = place;
    // the first decision on a call counts
    if (!responses.has(call))
      responses.set(call, { call, round: Number(round), approved, reason: reason ?? undefined });
    if (responses.size > maxResponses)
      throw invalidRequest([{ path: 'message.parts', message: `At most ${maxResponses} approvals at once.` }]);
  }
  if (responses.size > 0) return [...responses.values()];
  throw invalidRequest([{ path: 'message', message: 'Must be from the user, or respond to approvals.' }]);
}
