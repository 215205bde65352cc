import type { Database } from '../../postgres/pool.ts';

/** Those of the agents whose runs wait in the queues of their agents. */
export async function findPassedOnAgents(db: Database, known: readonly string[]): Promise<string[]> {
  const rows = await db.query<{ agent: string }>(
    'find_passed_on_agents',
    `select distinct agent from lanefold._run
     where active and suspended_until is null and agent_unknown_since is not null and agent = any ($1)`,
    [known],
  );
  return rows.map((row) => row.agent);
}
