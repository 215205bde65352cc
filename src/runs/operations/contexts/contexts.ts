import type { AgentRegistry } from '../../../agent/definition/registry.ts';
import type { Counting } from '../../../agent/models/counting.ts';
import type { ModelRegistry } from '../../../agent/models/registry.ts';
import { checked } from '../../../base/operations/checked.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { readModelCall } from './calls.ts';
import { replace, reset, switchTo } from './change-context.ts';
import { contexts } from './declaration.ts';
import type { Contexts } from './methods.ts';
import { diff, lanes, project } from './read-lane.ts';
import { replayCall } from './replay-call.ts';

export interface ContextsDeps {
  db: Database;
  agents: AgentRegistry;
  models: ModelRegistry;
  counting: Counting;
  compact: Contexts['compact'];
}

export function contextsOf({ db, agents, models, counting, compact }: ContextsDeps): Contexts {
  const deps = { db, agents, models, counting };
  return checked<Contexts>(contexts, {
    compact,
    project: ((threadId, options) => project(deps, threadId, options)) as Contexts['project'],
    replace: (threadId, context, options) => replace(deps, threadId, context, options),
    reset: (threadId, options) => reset(db, threadId, options),
    switch: (threadId, contextRef, options) => switchTo(db, threadId, contextRef, options),
    call: (threadId, llmCallId) => readModelCall(deps, threadId, llmCallId),
    replayCall: (threadId, llmCallId, options) => replayCall(deps, threadId, llmCallId, options),
    diff: (one, other) => diff(db, one, other),
    lanes: (threadId) => lanes(db, threadId),
  });
}
