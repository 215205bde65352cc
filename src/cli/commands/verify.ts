import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { snakeKeys } from '../../case.ts';
import type { Finding } from '../../store/evidence/verify-thread.ts';
import { connect } from '../connect.ts';
import { exitCodes, UsageError } from '../errors.ts';
import { Exit } from '../exit.ts';
import { commandHelp } from '../help.ts';
import { withDatabase, withJson, type ConnectionOptions } from '../options.ts';
import { note, print, printJson } from '../output.ts';

interface Options extends ConnectionOptions {
  heads?: string;
  key?: string;
  json?: boolean;
}

export const addVerify = (program: Command): Command =>
  withJson(withDatabase(program.command('verify')))
    .argument('[thread]', 'thread id; default: every thread with a chain')
    .option('--heads <file>', 'compare with heads that `lanefold heads` exported before')
    .option('--key <file>', 'Ed25519 key the heads were signed with, public or private, PEM')
    .summary('find entries that were altered, removed or cut off')
    .description(
      'Compares the log with the chain of hashes that threads of a tenant have after `lanefold tenants chain`, and with ' +
        'heads exported before. Names thread and entry of what is not as it was written. Exits with 1 if anything is found.',
    )
    .addHelpText(
      'after',
      commandHelp(
        ['lanefold verify', 'lanefold verify support-42', 'lanefold verify --heads heads.jsonl --key seal.pub'],
        ['DATABASE_URL', 'LANEFOLD_DIR'],
      ),
    )
    .action(async (threadId: string | undefined, { heads, key, json, ...options }: Options) => {
      if ((heads === undefined) !== (key === undefined))
        throw new UsageError('Heads need the key they were signed with.', 'Pass both --heads and --key.');
      const lanefold = await connect(options, { start: false });
      const found: Finding[] = [];
      try {
        const { evidence } = lanefold;
        if (heads !== undefined) {
          const lines = (await readFile(heads, 'utf8')).split('\n').filter((text) => text.trim() !== '');
          const given = lines.map((text) => JSON.parse(text) as { threadId?: string });
          const chosen = given.filter((head) => threadId === undefined || head.threadId === threadId);
          for await (const finding of evidence.verifyHeads(chosen, await readFile(key!, 'utf8'))) found.push(finding);
        }
        if (threadId !== undefined) found.push(...(await evidence.verify(threadId)));
        else for await (const finding of evidence.verifyAll()) found.push(finding);
      } finally {
        await lanefold.close();
      }
      if (json) printJson(found.map(snakeKeys));
      else if (found.length === 0) note('every entry is as it was written');
      else for (const finding of found) print(line(finding));
      if (found.length > 0) throw new Exit(exitCodes.failed);
    });

function line({ threadId, seq, upto, problem }: Finding): string {
  const where = seq === null ? '' : seq === upto ? `  entry ${seq}` : `  entries ${seq} to ${upto}`;
  return `${threadId}${where}  ${problem}`;
}
