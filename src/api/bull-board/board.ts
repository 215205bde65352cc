import { createBullBoard } from '@bull-board/api';
import { HonoAdapter } from '@bull-board/hono';
import { serveStatic } from '@hono/node-server/serve-static';
import { Hono } from 'hono';
import { LanefoldError } from '../../errors.ts';
import type { Library } from '../../library/library.ts';
import type { RunJob } from '../../queue/job.ts';
import { blockJobEdits } from './block-job-edits.ts';
import { keepLocal } from './keep-local.ts';
import { RunsAdapter } from './runs-adapter.ts';

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
        description: 'One job per run; a resumed run has another one.',
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
    // a path that no file can have, such as one with a NUL
    if (c.req.path.startsWith(`${bullBoardPath}/static/`))
      throw new LanefoldError('not_found', `${c.req.path.slice(0, 200)} does not exist.`);
    throw error;
  });
  board.route('/', plugin);
  return board;
}

/** The run of a job, on the page. */
function runOnPage({ data }: { data: unknown }): { displayText: string; href: string } {
  const { thread_id: threadId, run_id: runId } = data as Partial<RunJob>;
  const run = threadId && runId ? `#/threads/${encodeURIComponent(threadId)}/runs/${encodeURIComponent(runId)}` : '';
  return { displayText: 'Run', href: `/${run}` };
}
