import { checked } from '../../../base/operations/checked.ts';
import type { EnqueueDeps } from '../runs/enqueue-options.ts';
import { readModelCall } from './calls.ts';
import { replace, reset, show, switchTo } from './change-context.ts';
import { compact } from './compact.ts';
import { contexts } from './declaration.ts';
import type { Contexts } from './methods.ts';
import { diff, lanes, project } from './read-lane.ts';
import { replayCall } from './replay-call.ts';

export function contextsOf(deps: EnqueueDeps): Contexts {
  const { db } = deps;
  return checked<Contexts>(contexts, {
    compact: (threadId, options) => compact(deps, threadId, options),
    project: ((threadId, options) => project(deps, threadId, options)) as Contexts['project'],
    replace: (threadId, context, options) => replace(deps, threadId, context, options),
    reset: (threadId, options) => reset(db, threadId, options),
    show: (threadId, contextRef, options) => show(db, threadId, contextRef, options),
    switch: (threadId, contextRef, options) => switchTo(db, threadId, contextRef, options),
    call: (threadId, llmCallId) => readModelCall(deps, threadId, llmCallId),
    replayCall: (threadId, llmCallId, options) => replayCall(deps, threadId, llmCallId, options),
    diff: (one, other) => diff(db, one, other),
    lanes: (threadId) => lanes(db, threadId),
  });
}
