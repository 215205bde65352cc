import type { AgentRegistry } from '../../../agent/definition/registry.ts';
import type { ContextRow } from '../../../agent/context/fold.ts';
import type { Counting } from '../../../agent/models/counting.ts';
import type { ModelRegistry } from '../../../agent/models/registry.ts';
import { assertId } from '../../../base/checks/ids.ts';
import { checkOptions } from '../../../base/operations/checked.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { contextDiff, type LanePoint } from '../../../database/store/context/context-diff.ts';
import { readContext } from '../../../database/store/context/read-context.ts';
import { readLanes } from '../../../database/store/context/read-lanes.ts';
import type { DiffRow, Lane } from '../../../database/store/context/types.ts';
import { readThread } from '../../../database/store/log/read-thread.ts';
import { DiffedContext as diffedContext, LaneOptions as laneOptions, PolicyView as policyView } from './declaration.ts';
import { nextCall } from './next-call.ts';
import { asksOfCall, newestRows, projectContext, type ContextProjection } from './project.ts';
import type { DiffedContext, LaneOptions, PolicyView } from './types.ts';

const projectOptions = laneOptions.extend(policyView.shape);

interface LaneDeps {
  db: Database;
  agents: AgentRegistry;
  models: ModelRegistry;
  counting: Counting;
}

/** See `Contexts.project`. */
export async function project(
  { db, agents, models, counting }: LaneDeps,
  threadId: string,
  options: LaneOptions & PolicyView = {},
): Promise<ContextRow[] | ContextProjection> {
  checkOptions('contexts.project', projectOptions, options);
  assertId(threadId, 'The thread id');
  const { contextRef: given, atSeq, limit, ...view } = options;
  const contextRef = given ?? (await readThread(db, threadId)).activeContextRef;
  const rows = await readContext(db, threadId, contextRef, atSeq);
  const newest = (all: ContextRow[]) => (limit === undefined ? all : newestRows(all, limit));
  if (!asksOfCall(view)) return newest(rows);
  const call = await nextCall({ db, agents }, { threadId, contextRef, atSeq }, view);
  const { explain = false, fullBudget: full = false } = view;
  // a process without the agent's own models shows the messages as the log has them
  const dialect = call.model === undefined ? undefined : await models.dialect(call.model).catch(() => undefined);
  const at = new Date(db.settings.clock.now());
  const projection = await projectContext(counting, rows, { ...call, dialect, at }, { explain, full });
  return { ...projection, messages: newest(projection.messages) };
}

/** See `Contexts.lanes`. */
export async function lanes(db: Database, threadId: string): Promise<Lane[]> {
  assertId(threadId, 'The thread id');
  const found = await readLanes(db, threadId);
  if (found.length === 0) await readThread(db, threadId);
  return found;
}

/** See `Contexts.diff`. */
export async function diff(db: Database, one: DiffedContext, other: DiffedContext): Promise<DiffRow[]> {
  for (const given of [one, other]) checkOptions('contexts.diff', diffedContext, given);
  const [a, b] = [await lanePoint(db, one), await lanePoint(db, other)];
  return contextDiff(db, a, b);
}

async function lanePoint(db: Database, { threadId, contextRef, atSeq }: DiffedContext): Promise<LanePoint> {
  const { activeContextRef } = await readThread(db, threadId);
  return { threadId, contextRef: contextRef ?? activeContextRef, atSeq };
}
