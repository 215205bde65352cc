import type { EnqueueOptions } from '../../runs/operations/runs/enqueue-options.ts';
import { assertScope } from '../../base/access/authorize.ts';
import type { BulkReceipt, RunTree } from '../../runs/operations/runs/types.ts';
import type { Run, RunHandle, RunRef } from '../../database/store/run/run.ts';
import { omitUndefined } from '../../base/common/json.ts';
import { pageOf } from '../../base/common/page.ts';
import { callerOf, limitedParties } from '../access/limited-parties.ts';
import { withinRuns } from '../access/limit-runs.ts';
import { assertSeesThreads } from '../access/require-unbound.ts';
import type { Given, Handler } from '../declared/routes.ts';
import type { ApiApp } from '../env.ts';
import type { AppOptions } from '../options.ts';
import { orMissing } from '../routes/shared.ts';
import type { ServeStream } from '../serve-stream.ts';
import { eventsHandler, streamTree } from './trace.ts';
import { enqueueMany } from './many-runs.ts';

interface Serving {
  app: ApiApp;
  serve: ServeStream;
  /** Gets the server errors of single runs in a batch, whose response itself succeeds. */
  onError: NonNullable<AppOptions['onError']>;
}

/** What the API does about runs besides calling their methods. */
export function runHandlers({ app, serve, onError }: Serving): Record<string, Handler> {
  /** Starts a run within the limits of the key, and says where it is. */
  const starting = async (given: Given, start: () => Promise<unknown>) => {
    const run = (await withinRuns(given.c, app, start)) as RunHandle;
    return located(given, run);
  };
  return {
    enqueue: (given) =>
      starting(given, () => {
        const { body, headers, lanefold, params, principal } = given;
        const { threadId } = params;
        const options = { ...body, threadId, ...omitUndefined({ traceparent: headers['traceparent'] }) };
        return lanefold.runs.enqueue(options as unknown as EnqueueOptions, { from: 'http', ...callerOf(principal) });
      }),
    enqueueMany: enqueueMany(app, onError),
    retry: (given) => starting(given, given.call),
    rerun: (given) => starting(given, given.call),
    async retryMany({ c, call, options, principal }) {
      const { limit = 100, dryRun } = options as { limit?: number; dryRun?: boolean };
      if (dryRun || !isLimited(principal)) return call();
      const { matched } = (await call({ dryRun: true })) as BulkReceipt;
      return withinRuns(c, app, () => call(), Math.min(matched, limit));
    },
    async releaseMany({ call, options, principal }) {
      if (options['decision'] !== undefined) assertScope(principal, 'approve');
      return call();
    },
    async tree({ call, principal }) {
      const tree = (await call()) as RunTree;
      // its other runs have threads of their own
      if (tree.runs.length > 1) assertSeesThreads(principal, 'read');
      return tree;
    },
    async listRuns({ lanefold, options, params }) {
      const { threadId } = params as { threadId: string };
      const page = await lanefold.runs.list({ ...options, threadId });
      await orMissing(lanefold, threadId, page.data);
      return page;
    },
    async listMarks({ lanefold, options, params }) {
      return lanefold.threads.marks(params['threadId']!, (options['runIds'] as string).split(','));
    },
    async cancel({ lanefold, options, run }) {
      return { ...run, ...(await lanefold.runs.cancel(run, options['reason'] as string | undefined)) };
    },
    async resume(given) {
      const { answer, c, call, options } = given;
      const run = (await (options['query'] === undefined ? call() : withinRuns(c, app, call))) as Run;
      return run.finishedAt ? run : answer(located(given, run), 202);
    },
    collect: ({ lanefold, options }) => collect(lanefold, options),
    async cancelByToken({ lanefold, options }) {
      const { threadId, id } = await collect(lanefold, options);
      const receipt = await lanefold.runs.cancel(options['token'] as string, options['reason'] as string | undefined);
      return { id, threadId, ...receipt };
    },
    inputs: (given) => numbered(given, 'ordinal'),
    nodes: (given) => numbered(given, 'node'),
    events: eventsHandler(serve),
    streamTree: streamTree(serve),
  };
}

const isLimited = (principal: Given['principal']): boolean =>
  limitedParties(principal).some(({ limits }) => limits.runs !== undefined);

function located<R extends RunRef>({ c }: Given, run: R): R {
  c.header('Location', `/v1/threads/${run.threadId}/runs/${run.id}`);
  return run;
}

async function collect({ runs }: Given['lanefold'], { token }: Given['options']): Promise<Run> {
  return (await runs.collect(token as string, { runUntilTerminal: false })).run;
}

/** A page of what the method lists, which is asked for one item more. An empty list needs a run. */
async function numbered({ call, lanefold, options, run }: Given, number: string) {
  const { limit = 100 } = options as { limit?: number };
  const found = (await call({ limit: limit + 1 })) as Record<string, number>[];
  if (found.length === 0) await lanefold.runs.get(run);
  return pageOf(found, limit, (last) => last[number]);
}
