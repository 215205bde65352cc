import { createRoute, type z } from '@hono/zod-openapi';
import { omitUndefined } from '../../base/common/json.ts';
import type { ApiApp, ApiEnv } from '../env.ts';
import { toJson } from '../json.ts';
import { Decision, DecisionReceipt } from '../schemas/approval.ts';
import { bodyProblems, problems } from '../schemas/problem.ts';
import { Call } from '../schemas/values.ts';
import { actedBy, body, json, run, security } from './shared.ts';

const pendingCall = run.extend({ call: Call });

const decide = <Word extends 'approve' | 'deny'>(word: Word, summary: string) =>
  createRoute({
    method: 'post',
    path: `/v1/threads/{thread_id}/runs/{run_id}/tool-calls/{call}/${word}`,
    operationId: `${word}ToolCall`,
    tags: ['Runs'],
    security,
    summary,
    description:
      'The first decision counts: repeating it returns the same decision; the opposite decision fails with 409 ' +
      '`already_decided`. The run continues once every call of the round is decided.',
    request: { params: pendingCall, body: body(Decision) },
    responses: { 200: json('The decision.', DecisionReceipt), ...problems(...bodyProblems, 404, 409, 410) },
  });

const approveToolCall = decide('approve', 'Approve a pending tool call');
const denyToolCall = decide('deny', 'Deny a pending tool call');

export function addApprovals(app: ApiApp): void {
  const act =
    (word: 'approve' | 'deny') =>
    async (
      { thread_id: threadId, run_id: id, call }: z.infer<typeof pendingCall>,
      { by: named, reason }: z.infer<typeof Decision>,
      { principal, lanefold }: ApiEnv['Variables'],
    ) => {
      const by = actedBy(principal, named);
      const receipt = await lanefold.runs[word]({ threadId, id }, call, omitUndefined({ by, reason }) as object);
      return toJson({ threadId, runId: id, ...receipt });
    };
  app.openapi(approveToolCall, async (c) =>
    c.json(await act('approve')(c.req.valid('param'), c.req.valid('json'), c.var), 200),
  );
  app.openapi(denyToolCall, async (c) =>
    c.json(await act('deny')(c.req.valid('param'), c.req.valid('json'), c.var), 200),
  );
}
