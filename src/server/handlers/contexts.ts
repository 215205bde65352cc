import type { ContextRow } from '../../agent/context/fold.ts';
import { parsePolicy } from '../../agent/policy/read-policy.ts';
import { omitUndefined } from '../../base/common/json.ts';
import { LanefoldError } from '../../base/errors.ts';
import type { OperationReceipt } from '../../database/store/context/types.ts';
import type { CompactionHandle } from '../../runs/operations/contexts/compaction-result.ts';
import { asksOfCall, type ContextProjection } from '../../runs/operations/contexts/project.ts';
import type { LaneOptions, NewContext, OperationOptions, PolicyView } from '../../runs/operations/contexts/types.ts';
import { withinRuns } from '../access/limit-runs.ts';
import type { Given, Handlers } from '../declared/routes.ts';
import type { ApiApp } from '../env.ts';
import { replayed } from '../routes/shared.ts';

/** What the API does with contexts beside calling the methods of their operations. */
export const contextHandlers = (app: ApiApp): Handlers[string] => ({
  async project({ lanefold, params, options }) {
    const threadId = params['threadId']!;
    const { atSeq, limit, policy, fullBudget, explain, ...call } = options as ContextQuery;
    const contextRef = params['contextRef']!;
    const which: LaneOptions = omitUndefined({ contextRef, atSeq, limit });
    const view: PolicyView = {
      ...call,
      ...omitUndefined({ policy: policy === undefined ? undefined : parsePolicy(policy) }),
      fullBudget: fullBudget === 'true',
      explain: explain === 'true',
    };
    const shown = await lanefold.contexts.project(threadId, { ...which, ...view } as LaneOptions);
    const projection = (asksOfCall(view) ? shown : { messages: shown }) as Partial<ContextProjection>;
    const messages: ContextRow[] = projection.messages!;
    // an unknown lane is empty, an unknown thread is missing
    if (messages.length === 0) await lanefold.threads.peek(threadId);
    return { threadId, contextRef, atSeq: atSeq ?? null, ...projection };
  },

  async applyOperation({ c, lanefold, params, body, answer }) {
    const threadId = params['threadId']!;
    const { operation, contextRef, ...rest } = body as unknown as Applied;
    const { type, resultContext, ...told } = operation;
    const options = { ...rest, ...told };
    const { contexts } = lanefold;
    const receipt =
      type === 'switch'
        ? await contexts.switch(threadId, contextRef ?? missingLane(), options)
        : await contexts.replace(threadId, resultContext!, {
            ...options,
            ...omitUndefined({ contextRef }),
            from: 'http',
          });
    return answerReceipt(c, receipt, answer);
  },

  async showLane({ c, lanefold, params, options, answer }) {
    const { threadId, contextRef } = params;
    return answerReceipt(c, await lanefold.contexts.show(threadId!, contextRef!, options), answer);
  },

  async resetLane({ c, lanefold, params, options, answer }) {
    const { threadId, contextRef } = params;
    return answerReceipt(c, await lanefold.contexts.reset(threadId!, { ...options, contextRef: contextRef! }), answer);
  },

  async compact({ c, call }) {
    const handle = (await withinRuns(c, app, call)) as CompactionHandle;
    c.header('Location', `/v1/threads/${handle.threadId}/runs/${handle.id}`);
    return handle;
  },

  replayCall({ c, options, call }) {
    options['signal'] = c.req.raw.signal;
    // a replay is not a run, but costs as much as one
    return withinRuns(c, app, call);
  },

  async diffContexts({ lanefold, params, options }) {
    const { threadId, contextRef } = params as { threadId: string; contextRef: string };
    const { atSeq, otherThreadId, otherContextRef, otherAtSeq } = options as DiffQuery;
    const data = await lanefold.contexts.diff(
      { threadId, contextRef, ...omitUndefined({ atSeq }) },
      {
        threadId: otherThreadId ?? threadId,
        contextRef: otherContextRef ?? contextRef,
        ...omitUndefined({ atSeq: otherAtSeq }),
      },
    );
    return { data };
  },
});

interface ContextQuery {
  atSeq?: number;
  limit?: number;
  policy?: string;
  model?: never;
  agent?: string;
  fullBudget?: 'true' | 'false';
  explain?: 'true' | 'false';
}

interface Applied extends OperationOptions {
  contextRef?: string;
  operation: OperationOptions & { type: 'replace' | 'switch'; resultContext?: NewContext };
}

interface DiffQuery {
  atSeq?: number;
  otherThreadId?: string;
  otherContextRef?: string;
  otherAtSeq?: number;
}

function answerReceipt(c: Given['c'], receipt: OperationReceipt, answer: Given['answer']): Response {
  for (const [name, value] of Object.entries(replayed(receipt.status === 'duplicate'))) c.header(name, value);
  return answer(receipt, receipt.status === 'deferred' ? 202 : 200);
}

function missingLane(): never {
  throw new LanefoldError('invalid_request', 'A switch needs the context_ref of the lane to switch to.', {
    details: { errors: [{ path: 'body.context_ref', message: 'Required' }] },
  });
}
