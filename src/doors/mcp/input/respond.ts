import { inputResponse } from '@modelcontextprotocol/server';
import { isLanefoldError, LanefoldError } from '../../../base/errors.ts';
import { callPath, type Api, type RunJson, type RunName } from '../api.ts';
import { openCalls, type OpenCall } from '../runs/state.ts';
import { keyOf } from './requests.ts';
import { parseJson } from '../../../base/common/json.ts';

export interface Decision {
  approve: boolean;
  reason?: string | undefined;
}

/** Approves or denies a tool call. @throws LanefoldError `already_decided`, `not_awaiting_approval`, `forbidden` */
export const decide = <T>(
  api: Api,
  run: RunName,
  call: string,
  { approve, reason }: Decision,
  by: string,
): Promise<T> =>
  api.post(`${callPath(run, call)}/${approve ? 'approve' : 'deny'}`, { by, ...(reason ? { reason } : {}) });

/** Gives a waiting call its result: JSON, or else text. */
export const release = <T>(api: Api, run: RunName, call: string, result: string, by: string): Promise<T> =>
  api.post(`${callPath(run, call)}/release`, { result: jsonOr(result), by });

/**
 * Applies the answers of the client's user to what a run waits for, and returns the keys it has left open. Answers to
 * what has ended meanwhile are ignored: the first decision counts, wherever it was made.
 *
 * @throws LanefoldError `invalid_input` for an answer that does not fit its question, `forbidden`
 */
export async function respond(
  api: Api,
  run: RunJson,
  responses: Record<string, unknown>,
  by: string,
): Promise<ReadonlySet<string>> {
  const left = new Set<string>();
  const name = { thread_id: run.thread_id, run_id: run.id };
  for (const open of openCalls(run)) {
    if (!Object.hasOwn(responses, keyOf(open))) continue;
    const acted = await act(api, name, open, responses, by).catch((error: unknown) => {
      if (isLanefoldError(error, 'already_decided') || isLanefoldError(error, 'not_awaiting_approval')) return true;
      throw error;
    });
    if (!acted) left.add(keyOf(open));
  }
  return left;
}

async function act(
  api: Api,
  run: RunName,
  open: OpenCall,
  responses: Record<string, unknown>,
  by: string,
): Promise<boolean> {
  const view = inputResponse(responses, keyOf(open));
  if (view.kind !== 'elicit') throw unfit(open, 'is not the answer to a form');
  const { action, content = {} } = view;
  // dismissed without a choice
  if (action === 'cancel') return false;
  if (open.kind === 'approval') {
    const { approve = false, reason } = action === 'decline' ? {} : content;
    if (typeof approve !== 'boolean') throw unfit(open, 'must have approve: true or false');
    if (reason !== undefined && typeof reason !== 'string') throw unfit(open, 'has a reason that is not text');
    await decide(api, run, open.call, { approve, reason }, by);
    return true;
  }
  // the event may still be sent
  if (action === 'decline') return false;
  if (typeof content['result'] !== 'string') throw unfit(open, 'must have a result, which is text');
  await release(api, run, open.call, content['result'], by);
  return true;
}

const unfit = (open: OpenCall, why: string): LanefoldError =>
  new LanefoldError('invalid_input', `The answer to ${keyOf(open)} ${why}.`, {
    hint: 'Nothing was decided. Answer it again with lanefold_decide or lanefold_release.',
  });

function jsonOr(text: string): unknown {
  try {
    return parseJson(text) as unknown;
  } catch {
    return text;
  }
}
