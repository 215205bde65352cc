import { z } from 'zod';
import {
  ListedRollout,
  ListedVersion,
  RolloutDefinition,
  VersionChange,
} from '../../../agent/definition/declaration.ts';
import type { Principal } from '../../../base/access/principal.ts';
import { noun } from '../../../base/operations/operation.ts';
import { by, count, Id, jsonObject, named, orNull, whole } from '../../../base/operations/schemas.ts';
import { Tool } from '../contexts/declaration.ts';
import type { AgentSummary as Agent } from './types.ts';

const AgentTool = named('AgentTool', z.object({ ...Tool.shape, needsApproval: z.boolean() }));

export const AgentSummary = named(
  'Agent',
  z
    .object({
      name: z.string(),
      description: z.string().nullable().describe('What the agent is for; null without a description.'),
      labels: z.array(z.string()).meta({
        description: 'The labels of its versions, beginning with the version that serves by default.',
        doc: 'The labels of its versions, beginning with the version that serves by default; empty if no version has a label.',
      }),
      model: z.string(),
      strategy: z.string().meta({ example: 'react' }),
      instructions: z.string().nullable().describe('The system prompt for lanes that set none.'),
      maxIterations: count('Maximum iterations of a run.', 10),
      tools: z.array(AgentTool),
      outputSchema: orNull(jsonObject('The JSON Schema of its results.')).describe(
        'null: its results are text, or what its strategy returns.',
      ),
    })
    .meta({ description: 'An agent, as this server defines it.', doc: 'An agent as this process knows it.' }),
);

const MovedThread = named(
  'MovedThread',
  z
    .strictObject({
      threadId: Id,
      version: orNull(z.string().min(1).max(64)).describe('A label; null: the rollout chooses again.'),
    })
    .meta({ example: { threadId: 'orders-42', version: 'b' } }),
);

const tag = 'Operations';
const params = { agent: z.string().min(1).max(64) };
const version = (description: string) => z.string().min(1).max(128).describe(description);

/** Agents, their versions and their rollouts belong to no tenant. */
export const agents = noun('agents', tag, {
  list: {
    id: 'listAgents',
    route: 'GET /v1/agents',
    tag: 'Runs',
    scope: 'read',
    about: 'nothing',
    summary: 'List the agents that this server knows and the key may run',
    answer: { description: 'The agents.', schema: z.array(AgentSummary) },
    // it answers at once
    byHand: true,
    show: (all: Agent[], { agents: only }: Principal) => all.filter(({ name }) => only?.includes(name) ?? true),
  },
  versions: {
    id: 'listAgentVersions',
    route: 'GET /v1/agents/{agent}/versions',
    scope: 'read',
    everywhere: true,
    summary: 'List the versions of an agent, with counts, duration and cost of their runs',
    doc:
      'The versions of an agent that workers have started with, the latest first (at most 200), with the runs that were ' +
      'accepted within `hours`. At most the newest 10,000 runs of all agents are looked at: `since` says how far that reaches ' +
      "back.\n\n@example\nconst [latest] = await lanefold.agents.versions('support');",
    params,
    query: { hours: whole(1, 8_760).optional().describe('Hours to look back; default 168.') },
    answer: { description: 'The versions, at most 200, the latest first.', schema: z.array(ListedVersion) },
  },
  diff: {
    id: 'diffAgentVersions',
    route: 'GET /v1/agents/{agent}/versions/diff',
    scope: 'read',
    everywhere: true,
    summary: 'Compare two versions of an agent',
    doc:
      'What differs between two versions of an agent, by their ids.\n\n@example\n' +
      "const [to, from] = await lanefold.agents.versions('support');\n" +
      "if (from) console.log(await lanefold.agents.diff('support', from.id, to!.id));",
    params,
    query: { from: version('Id of a version.'), to: version('Id of another version.') },
    positional: ['from', 'to'],
    answer: { description: 'What differs.', schema: named('AgentVersionDiff', z.array(VersionChange)) },
    errors: ['unknown_version'],
  },
  rollouts: {
    id: 'listRollouts',
    route: 'GET /v1/rollouts',
    scope: 'read',
    everywhere: true,
    summary: 'List the rollouts of all agents',
    doc: 'The rollouts of all agents, by name.',
    answer: { description: 'The rollouts, by agent.', schema: z.array(ListedRollout) },
  },
  setRollout: {
    id: 'setRollout',
    route: 'PUT /v1/agents/{agent}/rollout',
    everywhere: true,
    summary: 'Set which versions of an agent serve its threads',
    description: 'Threads keep the version they have. Processes notice within five seconds.',
    doc:
      'Sets which versions of an agent serve its threads, by shares. A thread keeps the version it got first, whatever the ' +
      'shares become. Processes notice within five seconds. A version that no worker has had is named in `unknown`.\n\n' +
      "@example\nconst { unknown } = await lanefold.agents.setRollout('support', { shares: { a: 90, b: 10 } });\n" +
      "if (unknown.length > 0) console.warn(`No worker has had ${unknown.join(', ')}.`);",
    params,
    body: RolloutDefinition,
    bodyName: 'rollout',
    own: { by },
    answer: { description: 'The rollout.', schema: ListedRollout },
    errors: ['invalid_input'],
  },
  removeRollout: {
    id: 'removeRollout',
    route: 'DELETE /v1/agents/{agent}/rollout',
    everywhere: true,
    summary: 'Remove the rollout of an agent',
    description: 'The first version serves all threads again.',
    params,
    own: { by },
    answer: { description: 'The rollout is removed.' },
    errors: ['rollout_not_found'],
  },
  moveThread: {
    id: 'moveThread',
    route: 'POST /v1/agents/{agent}/rollout/moves',
    everywhere: true,
    summary: 'Move a thread to another version of an agent that has a rollout',
    doc: 'Moves a thread to another version of an agent that has a rollout, for the runs from now on; null: the rollout chooses again.',
    params,
    body: MovedThread,
    bodyIs: 'options',
    positional: ['threadId', 'agent', 'version'],
    own: { by },
    answer: { description: 'Its runs have this version from now on.' },
    errors: ['thread_not_found', 'thread_erased', 'rollout_not_found', 'unknown_version', 'invalid_input'],
  },
});
