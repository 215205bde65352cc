import { createBullBoard } from '@bull-board/api';
import { HonoAdapter } from '@bull-board/hono';
import { serveStatic } from '@hono/node-server/serve-static';
import { Hono, type MiddlewareHandler } from 'hono';
import { LanefoldError } from '../../base/errors.ts';
import type { Library } from '../../features/library/library.ts';
import type { RunJob } from '../../runs/queue/queue.ts';
import { RunsAdapter } from './runs-adapter.ts';
import { pagePolicy } from '../docs.ts';
import type { BeforeHook } from '@bull-board/api/typings/app';

/**
 * Actions that would add jobs without a run, or delay runs with one careless click. A retried job would find that its
 * run has ended and complete, which would show a failed run's job as completed, or replace an answer with an empty one.
 */
const blocked =
  /\/(add|update-data|obliterate|concurrency|rate-limit|delay|priority|retry)$|\/retry\/|\/job-schedulers\//;

/** Allows viewing, remove, promote, pause and resume. */
const blockJobEdits: BeforeHook = ({ method, route }) =>
  method !== 'get' && blocked.test(route)
    ? {
        allow: false,
        status: 403,
        message: 'This job belongs to a run: start a new run on the page or over the API instead.',
      }
    : { allow: true };

/** Removes the page's link to a web font, so that it loads nothing from other hosts; the policy enforces it. */
const keepLocal: MiddlewareHandler = async (c, next) => {
  await next();
  if (!c.res.headers.get('content-type')?.startsWith('text/html')) return;
  const html = (await c.res.text()).replace(/<link\b[^<>]*>/gi, (link) =>
    /\bhref="https?:\/\//i.test(link) ? '' : link,
  );
  c.res = new Response(html, { status: c.res.status, headers: { 'content-type': 'text/html; charset=utf-8' } });
  c.res.headers.set('Content-Security-Policy', pagePolicy);
};

export const bullBoardPath = '/admin/queues';

/** Bull Board for the run queues. Viewing and removing jobs is allowed, because it cannot harm a run. */
export function bullBoard(lanefold: Library, { page }: { page: boolean }): Hono {
  const serverAdapter = new HonoAdapter(serveStatic);
  serverAdapter.setBasePath(bullBoardPath);
  const several = lanefold.queues.length > 1;
  createBullBoard({
    queues: lanefold.queues.map((queue, shard) => {
      const adapter = new RunsAdapter(lanefold, queue, {
        displayName: several ? `Runs ${shard}` : 'Runs',
        description: 'One job per run; a resumed run gets another one.',
        allowRetries: false,
        ...(page ? { externalJobUrl: runOnPage } : {}),
      });
      adapter.setFormatter('name', (job) => (job.data as { agent?: string }).agent ?? job.name);
      return adapter;
    }),
    serverAdapter,
    options: {
      uiConfig: {
        boardTitle: 'Lanefold',
        hideDocsLink: true,
        showWorkers: lanefold.queueBackend === 'redis',
        hideRedisDetails: lanefold.queueBackend === 'postgres',
        environment: {
          label: `queue in ${lanefold.queueBackend === 'redis' ? 'Redis' : 'PostgreSQL'}`,
          color: '#3f6ad8',
          textColor: '#ffffff',
        },
        miscLinks: [...(page ? [{ text: 'Threads and runs', url: '/' }] : []), { text: 'API reference', url: '/docs' }],
      },
      handlerHooks: { before: blockJobEdits },
    },
  });
  const board = new Hono();
  board.use(keepLocal);
  const plugin = serverAdapter.registerPlugin();
  plugin.onError((error, c) => {
    // a path that no file can have, for example one with NUL
    if (c.req.path.startsWith(`${bullBoardPath}/static/`))
      throw new LanefoldError('not_found', `${c.req.path.slice(0, 200)} does not exist.`);
    throw error;
  });
  board.route('/', plugin);
  return board;
}

/** The link from a job to its run on the page. */
function runOnPage({ data }: { data: unknown }): { displayText: string; href: string } {
  const { thread_id: threadId, run_id: runId } = data as Partial<RunJob>;
  const run = threadId && runId ? `#/threads/${encodeURIComponent(threadId)}/runs/${encodeURIComponent(runId)}` : '';
  return { displayText: 'Run', href: `/${run}` };
}
