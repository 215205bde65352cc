import pg from 'pg';
import { newId } from '../../src/base/checks/ids.ts';
import { copyOf } from '../floor/copy.ts';
import { clearFloor, floorUrl, readTemplate } from '../floor/prepare.ts';
import { statementOf } from '../floor/statements.ts';
import type { System, SystemOptions } from './system.ts';

export interface FloorOptions {
  /** `commits`: the five commits of a run, for all runs together. `copy`: the rows of ended runs, in one commit. */
  way: 'commits' | 'copy';
}

/** No system: writes the rows of a run by hand, those of many runs in the same statements. */
export async function open({ databaseUrl, concurrency, way }: SystemOptions & FloorOptions): Promise<System> {
  // COPY does not work with policies
  const connectionString = way === 'copy' ? databaseUrl : floorUrl(databaseUrl);
  const pool = new pg.Pool({ connectionString, max: concurrency });
  const template = await readTemplate(pool);
  const statements = template.commits.map((commit) => statementOf(commit, template));
  const copy = copyOf(template);
  return {
    async run(together = 1) {
      const runs = Array.from({ length: together }, () => ({ threadId: newId('thread'), runId: newId('run') }));
      const client = await pool.connect();
      if (way === 'copy') await copy(client, runs);
      else {
        for (const [i, { text, values }] of statements.entries()) {
          await client.query({ name: `commit_${i}`, text, values: values(runs) });
        }
      }
      client.release();
    },
    async close() {
      await pool.end();
      await clearFloor(databaseUrl, template);
    },
  };
}
