import type { Database } from '../../database/postgres/pool.ts';
import { knownJobs } from '../../runs/queue/jobs-in-queue.ts';
import type { NewJob, RunQueue } from '../../runs/queue/queue.ts';
import { missingRuns, noteRestore, unfinishedRuns } from '../../database/store/run/note-restore.ts';
import type { RunRef } from '../../database/store/run/run.ts';

export interface Recovered {
  /** Unfinished runs, each of which has an event `database_restored` in its trace now. */
  runs: number;
  /** Those of them that have a job in the queue again; the others wait for their turn, a decision or an event. */
  queued: number;
  /** Runs that the queue knew and the database does not: they were accepted after the backup. */
  gone: RunRef[];
}

/**
 * Makes queue and database one again after the database was restored from a backup, whichever of the two is newer:
 * empties the queues of the fleet's shards, and gives every unfinished run of the fleet a new job. No process may be
 * running; a worker that still is cannot write for a run it held. What fails is repeated by calling it again.
 *
 * @throws LanefoldError `queue_unreachable`, `database_unreachable`
 */
export async function recover(db: Database, queue: RunQueue): Promise<Recovered> {
  const gone = await runsOnlyQueued(db, queue);
  const jobs: NewJob[] = [];
  let runs = 0;
  for await (const run of unfinishedRuns(db, queue.prefix)) {
    const noted = await noteRestore(db, run, queue.prefix);
    if (!noted) continue;
    runs += 1;
    if (noted.job) jobs.push(noted.job);
  }
  await queue.obliterate();
  for (let from = 0; from < jobs.length; from += batch) await queue.addAll(jobs.slice(from, from + batch), 'back');
  return { runs, queued: jobs.length, gone };
}

const batch = 500;

/** The runs that the queues of the shards know and the database does not. */
async function runsOnlyQueued(db: Database, queue: RunQueue): Promise<RunRef[]> {
  const gone = new Map<string, RunRef>();
  for (const each of queue.queues) {
    for await (const jobs of knownJobs(each)) {
      const refs = jobs.map(({ thread_id: threadId, run_id: id }) => ({ threadId, id }));
      // a run may have several jobs
      for (const run of await missingRuns(db, refs)) gone.set(`${run.threadId} ${run.id}`, run);
    }
  }
  return [...gone.values()];
}
