import { invalidRequest } from '../api/problem.ts';
import type { JsonObject } from '../context/message.ts';
import { isLanefoldError } from '../errors.ts';
import type { Library } from '../library/library.ts';
import type { RunRef } from '../store/run/run-ref.ts';

interface Response {
  round: number;
  index: number;
  approved: boolean;
  reason: string | undefined;
}

/**
 * Decides on the calls a message of the client has responses for, and returns their round. The first decision counts, so
 * one that comes too late changes nothing: the stream of the answer says what was decided.
 *
 * @throws LanefoldError `invalid_request`, `run_not_found`, `tool_call_not_found`
 */
export async function decideApprovals(
  lanefold: Library,
  run: RunRef,
  message: JsonObject,
  by: string | undefined,
): Promise<number> {
  const responses = readResponses(message);
  for (const { round, index, approved, reason } of responses) {
    const options = { ...(by === undefined ? {} : { by }), ...(reason === undefined ? {} : { reason }) };
    const decide = approved ? lanefold.runs.approve : lanefold.runs.deny;
    await decide(run, { round, index }, options).catch((error: unknown) => {
      if (!isLanefoldError(error, 'already_decided') && !isLanefoldError(error, 'not_awaiting_approval')) throw error;
    });
  }
  return Math.max(...responses.map(({ round }) => round));
}

function readResponses({ parts }: JsonObject): Response[] {
  const responses: Response[] = [];
  for (const part of Array.isArray(parts) ? parts : []) {
    const { state, approval } = Object(part) as JsonObject;
    if (state !== 'approval-responded') continue;
    const { id, approved, reason } = Object(approval) as JsonObject;
    const place = /^(\d{1,5})\.(\d{1,5})$/.exec(String(id));
    if (!place || typeof approved !== 'boolean' || (reason != null && typeof reason !== 'string'))
      throw invalidRequest([
        { path: 'message.parts', message: 'An approval needs its id, and approved: true or false.' },
      ]);
    responses.push({ round: Number(place[1]), index: Number(place[2]), approved, reason: reason ?? undefined });
  }
  if (responses.length > 0) return responses;
  throw invalidRequest([{ path: 'message', message: 'Must be from the user, or respond to approvals.' }]);
}
