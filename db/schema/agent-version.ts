import { jsonb, primaryKey, text } from 'drizzle-orm/pg-core';
import { id, lanefold, moment } from './columns.ts';

/**
 * The versions of agents, each stored once, by the hash of its definition. Runs and answers name them. Read it through the
 * view `agent_version`. Of no tenant, as the agents of workers are.
 */
export const agentVersion = lanefold.table(
  '_agent_version',
  {
    /** When a worker first started with it, and last. */
    firstAt: moment('first_at').notNull(),
    lastAt: moment('last_at').notNull(),
    agent: text('agent').notNull(),
    id: id('id').notNull(),
    definition: jsonb('definition').notNull(),
    /** The label under which a worker last started with it. */
    label: text('label'),
  },
  (t) => [primaryKey({ columns: [t.agent, t.id] })],
);

/**
 * Which versions of an agent serve its threads: shares by label. Read it through the view `rollout`. Of no tenant, as agents
 * are.
 */
export const rollout = lanefold.table(
  '_rollout',
  {
    updatedAt: moment('updated_at').notNull(),
    agent: text('agent').notNull(),
    /** {label: share}. */
    shares: jsonb('shares').notNull(),
    /** The limit key whose value is hashed; null: the thread. */
    key: text('key'),
    updatedBy: text('updated_by').notNull(),
  },
  (t) => [primaryKey({ columns: [t.agent] })],
);
