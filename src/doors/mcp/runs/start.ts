import type { z } from '@hono/zod-openapi';
import type { RunReceipt } from '../../../server/schemas/run-request.ts';
import { newThreadId } from '../../../base/checks/ids.ts';
import { omitUndefined } from '../../../base/common/omit-undefined.ts';
import { threadPath, type RunName } from '../api.ts';
import type { McpContext } from '../server-context.ts';

export interface StartRequest {
  agent: string;
  message: string;
  /** The thread to go on with; undefined: a new one. */
  threadId: string | undefined;
  /** Repeating it finds the run of the first request. */
  requestId: string | undefined;
  createThread: boolean | undefined;
  /** W3C Trace Context. */
  traceparent: string | undefined;
}

/**
 * Accepts a run. The new thread of a request with an id is derived from caller and id, so that a retry finds the same run,
 * and two callers may use the same id.
 *
 * @throws LanefoldError as `runs.enqueue`, `forbidden`
 */
export async function startRun(
  { api, ids }: Pick<McpContext, 'api' | 'ids'>,
  request: StartRequest,
): Promise<{ run: RunName; isNew: boolean }> {
  const { agent, message, threadId, requestId, createThread, traceparent } = request;
  // a caller is of one tenant, and no other request id has a space
  const newThread = async () =>
    requestId === undefined ? newThreadId() : (await ids()).thread(`mcp ${api.caller} ${requestId}`);
  const body = omitUndefined({
    ...{ agent, input: message, request_id: requestId },
    create_thread: threadId === undefined ? true : createThread,
  });
  const headers = omitUndefined({ traceparent });
  const receipt: z.infer<typeof RunReceipt> = await api.post(
    `${threadPath(threadId ?? (await newThread()))}/runs`,
    body,
    headers,
  );
  return { run: { thread_id: receipt.thread_id, run_id: receipt.id }, isNew: !receipt.duplicate };
}
