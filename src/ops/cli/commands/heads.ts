import type { Command } from 'commander';
import { snakeKeys } from '../../../base/common/case.ts';
import { connect } from '../connect.ts';
import { commandHelp } from '../help.ts';
import { withDatabase, type ConnectionOptions } from '../options.ts';
import { printJson } from '../output.ts';
import { readText } from '../read-file.ts';

export const addHeads = (program: Command): Command =>
  withDatabase(program.command('heads'))
    .requiredOption('--key <file>', 'PEM file of the Ed25519 private key to sign with')
    .summary('export signed heads of threads, for `verify`')
    .description(
      'Prints a signed head of every thread with a chain, one JSON object per line: the last entry and its hash. Keep ' +
        'the heads where the administrators of the database cannot change them, for `lanefold verify --heads`.',
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
