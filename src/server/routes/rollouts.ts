import { createRoute, z } from '@hono/zod-openapi';
import { omitUndefined } from '../../base/common/json.ts';
import type { Library } from '../../features/library/library.ts';
import type { ApiApp } from '../env.ts';
import { toJson } from '../json.ts';
import { withField } from '../problem.ts';
import { bodyProblems, problems } from '../schemas/problem.ts';
import { MovedThread, NewRollout, Rollout, RolloutList } from '../schemas/rollout.ts';
import { agentParam, body, json, security } from './shared.ts';

const tags = ['Operations'];

const list = createRoute({
  method: 'get',
  path: '/v1/rollouts',
  operationId: 'listRollouts',
  tags,
  security,
  summary: 'List the rollouts of all agents',
  responses: { 200: json('The rollouts, by agent.', RolloutList), ...problems() },
});

const set = createRoute({
  method: 'put',
  path: '/v1/agents/{agent}/rollout',
  operationId: 'setRollout',
  tags,
  security,
  summary: 'Set which versions of an agent serve its threads',
  description: 'Threads keep the version they have. Processes notice within five seconds.',
  request: { params: agentParam, body: body(NewRollout) },
  responses: { 200: json('The rollout.', Rollout), ...problems(...bodyProblems) },
});

const remove = createRoute({
  method: 'delete',
  path: '/v1/agents/{agent}/rollout',
  operationId: 'removeRollout',
  tags,
  security,
  summary: 'Remove the rollout of an agent',
  description: 'The first version serves all threads again.',
  request: { params: agentParam },
  responses: { 204: { description: 'The rollout is removed.' }, ...problems(404) },
});

const move = createRoute({
  method: 'post',
  path: '/v1/agents/{agent}/rollout/moves',
  operationId: 'moveThread',
  tags,
  security,
  summary: 'Move a thread to another version of an agent that has a rollout',
  request: { params: agentParam, body: body(MovedThread) },
  responses: {
    204: { description: 'Its runs have this version from now on.' },
    ...problems(...bodyProblems, 404, 410),
  },
});

/** Rollouts, which belong to no tenant, as agents do. */
export function addRollouts(app: ApiApp, { agents }: Library): void {
  app.openapi(list, async (c) =>
    c.json({ data: (await agents.rollouts()).map(toJson) } as z.infer<typeof RolloutList>, 200),
  );

  app.openapi(set, async (c) => {
    const by = c.var.principal.actor;
    const rollout = await agents
      .setRollout(c.req.valid('param').agent, omitUndefined(c.req.valid('json')), { by })
      .catch((error: unknown) => Promise.reject(withField(error)));
    return c.json(toJson(rollout) as z.infer<typeof Rollout>, 200);
  });

  app.openapi(remove, async (c) => {
    await agents.removeRollout(c.req.valid('param').agent, { by: c.var.principal.actor });
    return c.body(null, 204);
  });

  app.openapi(move, async (c) => {
    const { thread_id: threadId, version } = c.req.valid('json');
    await agents.moveThread(threadId, c.req.valid('param').agent, version, { by: c.var.principal.actor });
    return c.body(null, 204);
  });
}
