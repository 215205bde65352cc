import { invalidRequest } from '../../server/problem.ts';
import { wordOf } from '../../base/checks/text.ts';
import type { JsonObject } from '../../agent/context/message.ts';
import { isLanefoldError } from '../../base/errors.ts';
import type { TenantLibrary } from '../../features/library/library.ts';
import type { RunRef } from '../../database/store/run/run.ts';

/** Limited because each response is a locking call to the database. */
const mostResponses = 128;

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
    if (responses.size > mostResponses)
      throw invalidRequest([{ path: 'message.parts', message: `At most ${mostResponses} approvals at once.` }]);
  }
  if (responses.size > 0) return [...responses.values()];
  throw invalidRequest([{ path: 'message', message: 'Must be from the user, or respond to approvals.' }]);
}
