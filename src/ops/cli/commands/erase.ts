import type { Command } from 'commander';
import { snakeKeys } from '../../../base/common/case.ts';
import type { ErasureReport, TenantErasureReport } from '../../../runs/operations/threads/types.ts';
import { addRemoved } from '../../../runs/operations/threads/erasure-report.ts';
import type { Threads } from '../../../runs/operations/threads/methods.ts';
import { connect } from '../connect.ts';
import { exitCodes, UsageError, Exit } from '../errors.ts';
import { commandHelp } from '../help.ts';
import { withJson, withQueue, type ConnectionOptions } from '../options.ts';
import { note, print, printJson } from '../output.ts';

interface Options extends ConnectionOptions {
  tenant?: string;
  yes?: boolean;
  json?: boolean;
}

export const addErase = (program: Command): Command =>
  withJson(withQueue(program.command('erase')))
    .argument('[thread]', 'thread id')
    .option('--tenant <id>', 'erase all threads of this tenant')
    .option('--yes', 'confirm: erasing cannot be undone')
    .summary('permanently erase a thread, or all threads of a tenant')
    .description(
      'Removes all data of a thread, or of all threads of a tenant, from the database and the queue, and reports what it ' +
        'removed and what is left elsewhere. Of a tenant, it also removes schedules, evals, monitors, alarms, kept events ' +
        'and webhooks. It keeps threads with an active run: cancel the run first. Exits with 1 if it ' +
        'keeps any.',
    )
    .addHelpText(
      'after',
      commandHelp(
        ['lanefold erase support-42 --yes', 'lanefold erase --tenant acme --yes --json'],
        ['DATABASE_URL', 'REDIS_URL', 'LANEFOLD_QUEUE_SHARDS', 'LANEFOLD_DIR'],
      ),
    )
    .action(async (threadId: string | undefined, options: Options) => {
      const { tenant } = options;
      if ((threadId === undefined) === (tenant === undefined))
        throw new UsageError('Say what to erase.', 'Pass either a thread id or --tenant.');
      if (!options.yes) throw new UsageError('Erasing cannot be undone.', 'Add --yes to confirm.');
      const lanefold = await connect(options, { start: false });
      try {
        if (threadId !== undefined) return show(await lanefold.threads.erase(threadId), options.json === true);
        const report = await eraseAll(lanefold.threads, tenant!);
        show(report, options.json === true);
        if (report.busy.length === 0) return;
        note(`kept, because a run is active: ${report.busy.slice(0, 20).join(', ')} (${report.busy.length} in all)`);
        throw new Exit(exitCodes.failed);
      } finally {
        await lanefold.close();
      }
    });

/** Stops after a batch that contains only busy threads. */
async function eraseAll(threads: Threads, tenantId: string): Promise<TenantErasureReport> {
  let total: TenantErasureReport | undefined;
  for (;;) {
    const report = await threads.eraseTenant(tenantId);
    total = { ...report, removed: total ? addRemoved(total.removed, report.removed) : report.removed };
    if (!report.more || report.removed.threads === 0) return total;
    note(`${total.removed.threads} threads erased`);
  }
}

function show({ removed, left, ...report }: ErasureReport | TenantErasureReport, asJson: boolean): void {
  if (asJson) return printJson({ ...snakeKeys(report), removed: snakeKeys(removed), left });
  const counts = Object.entries(snakeKeys(removed)).map(
    ([what, count]) => `${String(count)} ${what.replace('_', ' ')}`,
  );
  print(`erased ${counts.join(', ')}`);
  print(`left:\n${left.map((what) => `- ${what}`).join('\n')}`);
}
