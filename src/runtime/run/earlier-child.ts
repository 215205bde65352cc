import type { Claim } from '../../store/run/claim-run.ts';
import { readRun } from '../../store/run/read-run.ts';
import { findEarlierChildren, type AskedOfChild } from '../../store/wait/earlier-children.ts';
import type { RunOfAgent } from '../../tools/child-request.ts';
import type { RunDependencies } from './dependencies.ts';
import type { HeldRun } from './held-run.ts';

/**
 * A run that repeats another one finds the runs that one has started: the run that has answered the same request;
 * undefined if none has. A fork of the caller's lane has another context now, so it is asked again.
 */
export async function earlierChild(
  { db }: Pick<RunDependencies, 'db'>,
  { threadId }: Pick<HeldRun, 'threadId'>,
  { options }: Pick<Claim, 'options'>,
  call: { round: number; index: number },
  asked: AskedOfChild,
): Promise<RunOfAgent | undefined> {
  const { retry_of: runId, retry_of_thread: elsewhere, fresh_children: fresh } = options ?? {};
  if (runId === undefined || fresh || asked.fork) return undefined;
  for (const child of await findEarlierChildren(db, { threadId: elsewhere ?? threadId, runId }, call, asked)) {
    const run = await readRun(db, child.threadId, child.id);
    if (run?.status === 'completed' && run.result !== null) return child;
  }
  return undefined;
}
