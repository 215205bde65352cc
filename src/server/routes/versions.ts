import { createRoute, z } from '@hono/zod-openapi';
import { omitUndefined } from '../../base/common/json.ts';
import type { Library } from '../../features/library/library.ts';
import type { ApiApp } from '../env.ts';
import { toJson } from '../json.ts';
import { problems } from '../schemas/problem.ts';
import { wholeText } from '../schemas/values.ts';
import { AgentVersionDiff, AgentVersionList } from '../schemas/version.ts';
import { agentParam, json, security } from './shared.ts';

const version = (name: string, description: string) =>
  z
    .string()
    .min(1)
    .max(128)
    .openapi({ param: { name, in: 'query', description } });

const listVersions = createRoute({
  method: 'get',
  path: '/v1/agents/{agent}/versions',
  operationId: 'listAgentVersions',
  tags: ['Operations'],
  security,
  summary: 'List the versions of an agent, with what their runs came to',
  request: {
    params: agentParam,
    query: z.strictObject({ hours: wholeText(1, 8_760, 'Hours to look back; default 168.') }),
  },
  responses: { 200: json('The versions, at most 200, the latest first.', AgentVersionList), ...problems() },
});

const diffVersions = createRoute({
  method: 'get',
  path: '/v1/agents/{agent}/versions/diff',
  operationId: 'diffAgentVersions',
  tags: ['Operations'],
  security,
  summary: 'Compare two versions of an agent',
  request: {
    params: agentParam,
    query: z.strictObject({ from: version('from', 'Id of a version.'), to: version('to', 'Id of another version.') }),
  },
  responses: { 200: json('What differs.', AgentVersionDiff), ...problems(404) },
});

/** Versions of agents, which belong to no tenant. */
export function addVersions(app: ApiApp, lanefold: Library): void {
  app.openapi(listVersions, async (c) => {
    const { agent: name } = c.req.valid('param');
    const data = await lanefold.agents.versions(name, omitUndefined(c.req.valid('query')));
    return c.json({ data: data.map(toJson) }, 200);
  });

  app.openapi(diffVersions, async (c) => {
    const { agent: name } = c.req.valid('param');
    const { from, to } = c.req.valid('query');
    return c.json({ data: await lanefold.agents.diff(name, from, to) }, 200);
  });
}
