import { createRoute, z } from '@hono/zod-openapi';
import type { ResumeOptions } from '../../runs/operations/runs/checkpoints.ts';
import { omitUndefined } from '../../base/common/json.ts';
import { withinRuns } from '../access/limit-runs.ts';
import { callerOf } from '../access/limited-parties.ts';
import type { ApiApp } from '../env.ts';
import { toJson } from '../json.ts';
import { runToJson } from '../run-json.ts';
import { CancelByToken, Checkpoint, Collect, NewCheckpoint, Resume } from '../schemas/checkpoint.ts';
import { bodyProblems, problems } from '../schemas/problem.ts';
import { Run } from '../schemas/run.ts';
import { CancelReceipt } from '../schemas/run-request.ts';
import { body, idempotencyKey, json, keyOf, run, security } from './shared.ts';

const tags = ['Runs'];

const createCheckpoint = createRoute({
  method: 'post',
  path: '/v1/threads/{thread_id}/runs/{run_id}/checkpoint',
  operationId: 'createCheckpoint',
  tags,
  security,
  summary: 'Create a checkpoint token for the current step of a run',
  request: { params: run, body: body(NewCheckpoint) },
  responses: { 200: json('The token.', Checkpoint), ...problems(...bodyProblems, 404, 409, 422) },
});

const resume = createRoute({
  method: 'post',
  path: '/v1/runs/resume',
  operationId: 'resumeRun',
  tags,
  security,
  summary: 'Resume from a checkpoint token',
  description:
    'Requeues an unfinished run that no worker holds. If the run has ended, returns its result. ' +
    'With `query`, starts a new run on the same lane.',
  request: { headers: idempotencyKey, body: body(Resume) },
  responses: {
    200: json('The run has ended.', Run),
    202: {
      ...json('The run continues, or a new run was accepted.', Run),
      headers: z.object({ Location: z.string().openapi({ description: 'URL of the run.' }) }),
    },
    ...problems(...bodyProblems, 404, 409, 410, 422),
  },
});

const collect = createRoute({
  method: 'post',
  path: '/v1/runs/collect',
  operationId: 'collectRun',
  tags,
  security,
  summary: 'Read the run of a checkpoint token, without resuming it',
  request: { body: body(Collect) },
  responses: { 200: json('The run.', Run), ...problems(...bodyProblems, 404, 409, 410, 422) },
});

const cancel = createRoute({
  method: 'post',
  path: '/v1/runs/cancel',
  operationId: 'cancelByToken',
  tags,
  security,
  summary: 'Cancel the run of a checkpoint token',
  request: { body: body(CancelByToken) },
  responses: { 200: json('The current status.', CancelReceipt), ...problems(...bodyProblems, 404, 409, 410, 422) },
});

export function addCheckpoints(app: ApiApp): void {
  app.openapi(createCheckpoint, async (c) => {
    const { thread_id: threadId, run_id: id } = c.req.valid('param');
    const { expires_in_ms: expiresInMs } = c.req.valid('json');
    return c.json(toJson(await c.var.lanefold.runs.checkpoint({ threadId, id }, omitUndefined({ expiresInMs }))), 200);
  });

  app.openapi(resume, async (c) => {
    const { token, query, request_id: id } = c.req.valid('json');
    const requestId = keyOf(c.req.valid('header'), 'request_id', id);
    const { lanefold, principal } = c.var;
    const act = () =>
      lanefold.runs.resume(token, omitUndefined({ query, requestId }) as ResumeOptions, callerOf(principal));
    const found = await (query === undefined ? act() : withinRuns(c, app, act));
    const location = { Location: `/v1/threads/${found.threadId}/runs/${found.id}` };
    return found.finishedAt ? c.json(runToJson(found), 200) : c.json(runToJson(found), 202, location);
  });

  app.openapi(collect, async (c) => {
    const { run: found } = await c.var.lanefold.runs.collect(c.req.valid('json').token, { runUntilTerminal: false });
    return c.json(runToJson(found), 200);
  });

  app.openapi(cancel, async (c) => {
    const { token, reason } = c.req.valid('json');
    const { run: found } = await c.var.lanefold.runs.collect(token, { runUntilTerminal: false });
    const receipt = await c.var.lanefold.runs.cancel(token, reason);
    return c.json(toJson({ id: found.id, threadId: found.threadId, ...receipt }), 200);
  });
}
