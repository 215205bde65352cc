import type { Command } from 'commander';
import { snakeKeys } from '../../common/case.ts';
import { connect } from '../connect.ts';
import { commandHelp } from '../help.ts';
import { withDatabase, type ConnectionOptions } from '../options.ts';
import { printJson } from '../output.ts';
import { readText } from '../read-file.ts';

export const addHeads = (program: Command): Command =>
  withDatabase(program.command('heads'))
    .requiredOption('--key <file>', 'Ed25519 private key to sign with, PEM')
    .summary('export signed heads of the chains of threads')
    .description(
      'Prints the last entry and hash of every thread with a chain, signed, one JSON object per line. Keep them where ' +
        'the administrators of the database cannot change them, for `lanefold verify --heads`.',
    )
    .addHelpText(
      'after',
      commandHelp(['lanefold heads --key seal.key > heads.jsonl'], ['DATABASE_URL', 'LANEFOLD_DIR']),
    )
    .action(async ({ key, ...options }: ConnectionOptions & { key: string }) => {
      const pem = await readText(key);
      const lanefold = await connect(options, { start: false });
      try {
        for await (const head of lanefold.evidence.heads(pem)) printJson(snakeKeys(head));
      } finally {
        await lanefold.close();
      }
    });
