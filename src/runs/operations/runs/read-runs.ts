import { assertId, assertRef } from '../../../base/checks/ids.ts';
import { assertStorable } from '../../../base/checks/values.ts';
import { refuseUnknownKeys } from '../../../base/checks/unknown-keys.ts';
import { rejecting } from '../../../base/common/promises.ts';
import { readInputs } from '../../../database/store/input/read-inputs.ts';
import { runNotFound } from '../../../database/store/missing.ts';
import { countUnfinished, ranOnly } from '../../../database/store/run/count-runs.ts';
import { countFound } from '../../../database/store/run/count-found.ts';
import { listRuns } from '../../../database/store/run/list-runs.ts';
import { readNodes } from '../../../database/store/run/read-nodes.ts';
import type { RunRef } from '../../../database/store/run/run.ts';
import { readRunEvents } from '../../../database/store/trace/read-events.ts';
import type { Streams } from '../../streams/open.ts';
import { priced } from './cost.ts';
import { readSnapshot, type RunSnapshot, type SnapshotDeps } from './run-snapshot.ts';
import type { Runs } from './runs.ts';
import { treeOf } from './tree.ts';

export interface ReadingDeps extends SnapshotDeps {
  streams: Pick<Streams, 'follow' | 'openTree'>;
}

type Reading = Pick<
  Runs,
  | 'get'
  | 'list'
  | 'counts'
  | 'events'
  | 'stream'
  | 'streamTree'
  | 'nodes'
  | 'tree'
  | 'inputs'
  | 'unfinished'
  | 'ranOnly'
>;

/** What reads runs: their states, their traces and what belongs to them. */
export function readingRuns(deps: ReadingDeps): Reading {
  const { db, streams } = deps;
  return {
    async get(run: RunRef) {
      assertRef(run);
      const found = await readSnapshot(deps, run.threadId, run.id);
      if (!found) throw runNotFound(run.threadId, run.id);
      return found as RunSnapshot<never>;
    },
    async list({ limit = 50, ...filter } = {}) {
      if (filter.threadId !== undefined) assertId(filter.threadId, 'The thread id');
      assertStorable(filter, 'The filter');
      const { data, nextAfter } = await listRuns(db.reader, { ...filter, limit });
      return { data: await Promise.all(data.map((run) => priced(deps.counting, run))), nextAfter };
    },
    async counts(filter = {}) {
      if (filter.threadId !== undefined) assertId(filter.threadId, 'The thread id');
      assertStorable(filter, 'The filter');
      return countFound(db.reader, filter);
    },
    async events(run, options = {}) {
      assertRef(run);
      refuseUnknownKeys('runs.events', options, { after: true, limit: true });
      const { after = -1, limit = 100 } = options;
      return readRunEvents(db, run.threadId, run.id, after, limit);
    },
    async *stream(run, options) {
      assertRef(run);
      yield* rejecting(streams.follow(run.threadId, run.id, options), options?.signal);
    },
    async *streamTree(run, options) {
      assertRef(run);
      yield* rejecting((await streams.openTree(run, options)).items, options?.signal);
    },
    async nodes(run, { after = 0, limit = 1_000 } = {}) {
      assertRef(run);
      return readNodes(db, run.threadId, run.id, { after, limit });
    },
    async tree(run) {
      assertRef(run);
      return treeOf(deps, run);
    },
    async inputs(run, { after = 0, limit = 100 } = {}) {
      assertRef(run);
      return readInputs(db, run.threadId, run.id, { after, limit });
    },
    async unfinished(of) {
      refuseUnknownKeys('runs.unfinished', of, { caller: true, tenant: true });
      return countUnfinished(db, of);
    },
    ranOnly: (threadId, agents) => ranOnly(db, threadId, agents),
  };
}
