import { errorStatus, LanefoldError } from '../../errors.ts';
import type { TenantLibrary } from '../../library/library.ts';
import type { AgUiEvent } from '../event.ts';
import { protocolVersion } from '../event.ts';
import { sameJson } from '../json-patch.ts';
import { hasHistory } from '../same-history.ts';
import { beginRun, type Begun } from './begin.ts';
import { FollowedRun } from './follow.ts';
import type { AgUiRequest } from './request.ts';

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
 * @throws LanefoldError `unknown_agent`, `unknown_tool`, `thread_busy`, `idempotency_mismatch`, `interrupt_not_found`,
 * `interrupt_ended`, `interrupts_open`, `invalid_input`, `empty_content`, `thread_erased`, `forbidden`
 */
export async function answerAgUi(
  lanefold: TenantLibrary,
  request: AgUiRequest,
  options: AnswerOptions,
): Promise<AsyncGenerator<AgUiEvent>> {
  return eventsOf(lanefold, request, await beginRun(lanefold, request), options);
}

async function* eventsOf(
  lanefold: TenantLibrary,
  { input }: AgUiRequest,
  begun: Begun,
  { signal, ended, onError }: AnswerOptions,
): AsyncGenerator<AgUiEvent> {
  const names = { threadId: input.threadId, runId: input.runId };
  const { run, before } = begun;
  const metadata = run ? { metadata: { lanefold: { run_id: run.id } } } : {};
  yield { type: 'RUN_STARTED', ...names, protocolVersion, ...metadata };
  try {
    const followed = run && new FollowedRun(lanefold, run, names, before.state);
    const passed = followed && !begun.fresh ? await followed.passUntil(before) : undefined;
    const known = hasHistory(begun.known, before.messages, before.complete) && !begun.joins;
    if (!known) {
      // of a reasoning that goes on, the client may have the beginning, and it gets all of it again
      const emptied = followed?.unfinished(input.messages) ?? [];
      const messages = [...before.messages, ...(begun.question ? [begun.question] : []), ...emptied];
      yield { type: 'MESSAGES_SNAPSHOT', messages };
    }
    if (!sameJson(input.state, before.state)) yield { type: 'STATE_SNAPSHOT', snapshot: before.state };
    if (!followed) {
      yield { type: 'RUN_FINISHED', ...names, outcome: { type: 'success' } };
      return;
    }
    if (begun.continued) followed.forgetUsage();
    followed.known(before.messages, known ? begun.answered : new Set());
    yield* followed.events(begun.fresh ? -1 : before.eventSeq, passed, signal);
    if (followed.over) return;
    if (signal.aborted && !ended?.()) return;
    throw ended?.() ?? closed();
  } catch (error) {
    yield toRunError(error, onError);
  }
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
