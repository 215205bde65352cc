import type { RunEvent } from '../../../database/store/trace/types.ts';
import { errorStatus, LanefoldError } from '../../../base/errors.ts';
import type { TenantLibrary } from '../../../features/library/library.ts';
import type { AgUiEvent } from '../../../runs/formats/ag-ui/event.ts';
import { protocolVersion } from '../../../runs/formats/ag-ui/event.ts';
import { sameJson } from '../../../runs/formats/ag-ui/nodes.ts';
import type { AgUiMessage } from '../../../runs/formats/ag-ui/event.ts';
import { hasHistory } from '../../../runs/formats/ag-ui/history.ts';
import { snapshots } from '../../../runs/formats/ag-ui/nodes.ts';
import { beginRun, type Begun } from './begin.ts';
import { FollowedRun } from './follow.ts';
import { ignoredTools, type AgUiRequest } from './request.ts';

export interface AnswerOptions {
  /** The client has left, or the server stops; ends the response, not the run. */
  signal: AbortSignal;
  /** Why the response ended early, if the client is still there. */
  ended?: () => LanefoldError | undefined;
  /** Gets the errors that clients must not see. */
  onError: (error: unknown) => void;
}

/**
 * Carries out a request and opens the response. What is wrong with the request is thrown; what goes wrong afterwards is a
 * `RUN_ERROR`.
 *
 * @throws LanefoldError `unknown_agent`, `thread_busy`, `idempotency_mismatch`, `interrupt_not_found`,
 * `interrupt_ended`, `interrupts_open`, `invalid_input`, `empty_content`, `thread_erased`, `forbidden`, `run_not_found`, `run_active`
 */
export async function answerAgUi(
  lanefold: TenantLibrary,
  request: AgUiRequest,
  options: AnswerOptions,
): Promise<AsyncGenerator<AgUiEvent>> {
  const { input } = request;
  const { threadId, runId, messages, state } = input;
  const ignored = { agent: request.agent, tools: ignoredTools(request) };
  const opening = [{ messages, state, ignored, begun: await beginRun(lanefold, request) }];
  return eventsOf(lanefold, { threadId, runId }, opening, options);
}

interface Names {
  threadId: string;
  runId: string;
}

/** What a response begins with: the client's conversation and the log's. */
interface Opening {
  messages: readonly AgUiMessage[];
  state: unknown;
  /** Tools of the client that the agent does not have. */
  ignored: { agent: string; tools: string[] };
  begun: Begun;
}

/** @param opening taken out by the one who uses it: a response is open for hours, and holds no conversation meanwhile */
async function* eventsOf(
  lanefold: TenantLibrary,
  names: Names,
  opening: Opening[],
  { signal, ended, onError }: AnswerOptions,
): AsyncGenerator<AgUiEvent> {
  const run = opening[0]!.begun.run;
  const metadata = run ? { metadata: { lanefold: { run_id: run.id } } } : {};
  yield { type: 'RUN_STARTED', ...names, protocolVersion, ...metadata };
  try {
    const followed = yield* open(lanefold, names, opening);
    if (!followed) {
      yield { type: 'RUN_FINISHED', ...names, outcome: { type: 'success' } };
      return;
    }
    yield* followed.run.events(followed.after, followed.end, signal);
    if (followed.run.over) return;
    if (signal.aborted && !ended?.()) return;
    throw ended?.() ?? closed();
  } catch (error) {
    yield toRunError(error, onError);
  }
}

/** Brings the client to the moment from which its stream continues; undefined if there is nothing to follow. */
async function* open(
  lanefold: TenantLibrary,
  names: Names,
  opening: Opening[],
): AsyncGenerator<AgUiEvent, { run: FollowedRun; after: number; end: RunEvent | undefined } | undefined> {
  const { messages: had, state, ignored, begun } = opening.pop()!;
  if (ignored.tools.length > 0) yield { type: 'CUSTOM', name: 'lanefold.tools_ignored', value: ignored };
  const { run, before, contextRef } = begun;
  const followed = run && new FollowedRun(lanefold, run, names, before, contextRef);
  const end = followed && !begun.fresh ? await followed.passUntil(before) : undefined;
  const known = hasHistory(begun.known, before.messages, before.complete) && !begun.joins;
  if (!known) {
    // of an unfinished reasoning, the client may have the beginning, and it gets all of it again
    const emptied = followed?.unfinished(had) ?? [];
    const messages = [...before.messages, ...(begun.question ? [begun.question] : []), ...emptied];
    yield* snapshots(messages, had);
  }
  if (!sameJson(state, before.state)) yield { type: 'STATE_SNAPSHOT', snapshot: before.state };
  if (!followed) return undefined;
  if (begun.continued) followed.forgetUsage();
  followed.known(before.messages, known ? begun.answered : new Set());
  return { run: followed, after: begun.fresh ? -1 : before.eventSeq, end };
}

const closed = (): LanefoldError =>
  new LanefoldError('lanefold_closed', 'The server stopped during the answer; the run continues.', {
    hint: 'Send the request again.',
  });

function toRunError(error: unknown, onError: (error: unknown) => void): AgUiEvent {
  const known = error instanceof LanefoldError ? error : undefined;
  if (known && (errorStatus[known.code] < 500 || known.code === 'lanefold_closed'))
    return { type: 'RUN_ERROR', code: known.code, message: [known.message, known.hint].filter(Boolean).join(' ') };
  onError(error);
  const message = 'The server failed to send the answer; the run continues. Send the request again.';
  return { type: 'RUN_ERROR', code: known?.code ?? 'internal', message };
}
