import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { exitCodes, UsageError, Exit } from '../errors.ts';
import { commandHelp } from '../help.ts';
import { withJson } from '../options.ts';
import { note, print, printJson } from '../output.ts';

export const addCheckHistory = (program: Command): Command =>
  withJson(program.command('check-history'))
    .argument('<file>', 'history that lanefold chaos has written, as JSON Lines')
    .summary('check a recorded history of clients and workers for contradictions')
    .description(
      'Checks what clients and workers were told against what they asked, without a database. Prints each contradiction ' +
        'with the indexes of its operations in the file, and exits with 1 if there is one.',
    )
    .addHelpText(
      'after',
      commandHelp(['lanefold chaos --queue redis --history history.jsonl', 'lanefold check-history history.jsonl'], []),
    )
    .action(async (file: string, { json }: { json?: boolean }) => {
      const [{ checkHistory }, { operationsOf }, { fromLines }] = await Promise.all([
        import('../../history/check-history.ts'),
        import('../../history/event.ts'),
        import('../../history/event.ts'),
      ]);
      const events = fromLines(await read(file));
      const operations = operationsOf(events);
      if (operations.length === 0)
        throw new UsageError(`${file} has no operations.`, 'Pass a file of lanefold chaos --history.');
      const violations = checkHistory(events);
      const threads = new Set(operations.map(({ thread_id }) => thread_id)).size;
      if (json) printJson({ operations: operations.length, threads, violations });
      else {
        print(`operations: ${operations.length}, threads: ${threads}`);
        for (const { check, thread_id: thread, what, operations: at } of violations)
          print(`${check}: thread ${thread}: ${what} (operations ${at.join(', ')})`);
      }
      if (violations.length === 0) return;
      note(`${violations.length} contradictions`);
      throw new Exit(exitCodes.failed);
    });

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(`Could not read ${file} (${(error as Error).message}).`, 'Pass the path of a history.');
  }
}
