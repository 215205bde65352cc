import type { RunTree } from '../runs/operations/runs/types.ts';
import type { RunWait } from '../database/store/run/types.ts';
import type { Run, RunRef } from '../database/store/run/run.ts';
import { toJson } from './json.ts';

export const waitToJson = (wait: RunWait) => ({ ...toJson(wait), run: refToJson(wait.run) });

export const refToJson = (run: RunRef | null): { thread_id: string; id: string } | null =>
  run && { thread_id: run.threadId, id: run.id };

/** A run as the API returns it. */
export const runToJson = <R extends Run>(run: R) => ({
  ...toJson(run),
  waits: run.waits.map(waitToJson),
  parent: refToJson(run.parent),
});

export const treeToJson = ({ root, runs, ...sums }: RunTree) => ({
  root: toJson(root),
  runs: runs.map((run) => ({
    ...toJson(run),
    waits: run.waits.map(waitToJson),
    parent: run.parent && toJson(run.parent),
  })),
  ...toJson(sums),
});
