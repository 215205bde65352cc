import { createRoute } from '@hono/zod-openapi';
import { omitUndefined } from '../../base/common/json.ts';
import { withinRuns } from '../access/limit-runs.ts';
import { callerOf } from '../access/limited-parties.ts';
import type { ApiApp } from '../env.ts';
import { toJson } from '../json.ts';
import { Compact } from '../schemas/context.ts';
import { bodyProblems, problems } from '../schemas/problem.ts';
import { body, json, receiptHeaders, replayedHeader, security, thread } from './shared.ts';
import { RunReceipt } from '../schemas/run.ts';

const compactLane = createRoute({
  method: 'post',
  path: '/v1/threads/{thread_id}/compact',
  operationId: 'compactLane',
  tags: ['Contexts'],
  security,
  summary: 'Have a model summarise the older part of a lane',
  description:
    'Enqueues a separate run with the strategy `compaction`. Until it ends, further requests for the lane return the same run.',
  request: { params: thread, body: body(Compact) },
  responses: {
    202: { ...json('The compaction was accepted.', RunReceipt), ...replayedHeader },
    ...problems(...bodyProblems, 404, 410, 422),
  },
});

export function addCompaction(app: ApiApp): void {
  app.openapi(compactLane, async (c) => {
    const { thread_id: threadId } = c.req.valid('param');
    const { context_ref: contextRef, range, keep_turns: keepTurns, agent, model } = c.req.valid('json');
    const { lanefold, principal } = c.var;
    const options = omitUndefined({
      ...{ contextRef, keepTurns, agent, model },
      range: range && { fromSeq: range.from_seq, toSeq: range.to_seq },
    });
    const handle = await withinRuns(c, app, () =>
      lanefold.contexts.compact(threadId, options, { ...callerOf(principal), from: 'http' }),
    );
    return c.json(toJson(handle), 202, receiptHeaders(handle));
  });
}
