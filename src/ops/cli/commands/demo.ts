import type { Command } from 'commander';
import type { Lanefold } from '../../../lanefold/lanefold.ts';
import type { RunHandle } from '../../../database/store/run/run.ts';
import { connect, psqlOf } from '../connect.ts';
import { table, colours, note, print } from '../output.ts';
import { Exit, stopSignal, exitCodes } from '../errors.ts';
import { commandHelp } from '../help.ts';
import { withQueue, type ConnectionOptions } from '../options.ts';
import { withServer } from './api.ts';

interface Options extends ConnectionOptions {
  host?: string;
  port?: number;
  once?: boolean;
}

export const addDemo = (program: Command): Command =>
  withServer(withQueue(program.command('demo')))
    .option('--once', 'exit after the run, as the command always does without a terminal')
    .summary('see one run from enqueue to SQL, offline')
    .description(
      'Starts an embedded PostgreSQL, the API and a worker, executes a ReAct run with two tools on an offline model, and ' +
        'shows its entries, the projected context and the SQL behind them. It then keeps running for you to explore.',
    )
    .addHelpText(
      'after',
      commandHelp(['lanefold demo', 'lanefold demo --once'], ['DATABASE_URL', 'REDIS_URL', 'LANEFOLD_DIR']),
    )
    .action(async (options: Options) => {
      const stays = !options.once && process.stdout.isTTY;
      const stopped = stays ? stopSignal() : undefined;
      // Private queues, because other workers on the same database do not have the demo's agent.
      const { demoAgent, question } = await import('../assistant.ts');
      const lanefold = await connect(options, {
        start: true,
        agents: [demoAgent],
        migrate: true,
        queuePrefix: 'lf-demo',
        privateQueue: true,
      });
      try {
        await lanefold.startWorker();
        const { host, port } = options;
        const server = await lanefold.startServer({
          ...(host ? { host } : {}),
          ...(port === undefined ? { nextFreePort: true } : { port }),
        });
        const run = await lanefold.runs.enqueue({ agent: 'demo', input: question });
        await show(lanefold, run, question);
        const c = colours();
        print();
        const shown = `/#/threads/${run.threadId}`;
        if (!stopped) {
          print(`To see this run on the page: npx lanefold dev, then open http://127.0.0.1:4100${shown}`);
          return;
        }
        print(`${c.bold('Page')}        ${server.url}${shown}`);
        print(`${c.bold('API')}         ${server.url}/v1/threads/${run.threadId}/contexts/default`);
        print(`${c.bold('Reference')}   ${server.url}/docs`);
        print(`${c.bold('Bull Board')}  ${server.url}/admin/queues`);
        print(`${c.bold('SQL')}         ${psqlOf(lanefold, options)}`);
        print('\nExplore the demo; Ctrl-C stops it.');
        note(`${await stopped}: stopping`);
      } finally {
        await lanefold.close();
      }
    });

async function show(lanefold: Lanefold, handle: RunHandle, question: string): Promise<void> {
  const c = colours();
  const { threadId } = handle;
  print(c.bold('\n1. A run is enqueued; a worker executes it'));
  print(`   ${question}`);
  const run = await lanefold.runs.wait(handle);
  const answer = typeof run.result === 'string' ? run.result : JSON.stringify(run.result);
  print(`   ${run.status} after ${run.iteration} model calls, ${run.durationMs} ms: ${c.green(answer)}`);
  if (run.status !== 'completed') throw new Exit(exitCodes.failed);

  print(c.bold('\n2. What was appended to the log'));
  const entries = await lanefold.threads.entries(threadId);
  const rows = entries.map(({ seq, kind, role, payload }) => [
    seq,
    kind,
    role,
    payload['content'] || payload['tool_calls'] || payload['value'],
  ]);
  for (const line of table(['seq', 'kind', 'role', 'content or calls'], rows)) print(`   ${line}`);

  print(c.bold('\n3. What the model will see next is a SELECT'));
  print(c.cyan(`   select ordinal, role, content, tool_calls from lanefold.lane_context`));
  print(c.cyan(`   where thread_id = '${threadId}' and context_ref = 'default' order by ordinal;`));
  const context = await lanefold.contexts.project(threadId);
  const seen = context.map((row) => [row.ordinal, row.role, row.content, row.tool_calls]);
  for (const line of table(['ordinal', 'role', 'content', 'tool_calls'], seen, 50)) print(`   ${line}`);

  print(c.bold('\n4. So is what it saw at any point in the past'));
  const asked = entries.find((entry) => entry.role === 'user')!.seq;
  print(c.cyan(`   select ordinal, role, content from lanefold.lane_context_at('${threadId}', 'default', ${asked});`));
  const past = await lanefold.contexts.project(threadId, { atSeq: asked });
  for (const line of table(
    ['ordinal', 'role', 'content'],
    past.map((row) => [row.ordinal, row.role, row.content]),
  )) {
    print(`   ${line}`);
  }
}
