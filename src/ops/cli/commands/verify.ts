import type { Command } from 'commander';
import { camelKeys, snakeKeys } from '../../../base/common/case.ts';
import type { KnownHeads } from '../../../runs/operations/evidence/evidence.ts';
import type { EvidenceFinding } from '../../../runs/operations/evidence/finding.ts';
import { connect } from '../connect.ts';
import { exitCodes, UsageError, Exit } from '../errors.ts';
import { commandHelp } from '../help.ts';
import { withDatabase, withJson, type ConnectionOptions } from '../options.ts';
import { note, print, printJson } from '../output.ts';
import { readJsonLines, readText } from '../read-file.ts';

interface Options extends ConnectionOptions {
  heads?: string;
  key?: string;
  json?: boolean;
}

export const addVerify = (program: Command): Command =>
  withJson(withDatabase(program.command('verify')))
    .argument('[thread]', 'thread id; default: every thread with a chain or a head')
    .option('--heads <file>', 'heads to compare with, exported by `lanefold heads`')
    .option('--key <file>', 'PEM file of the Ed25519 key that signed the heads, public or private')
    .summary('find entries that were altered, removed, cut off or moved')
    .description(
      'Compares the log of each thread with its chain of hashes (see `lanefold tenants chain`), and with exported heads. ' +
        'Computes the hashes itself, and reports the threads and entries that changed. Exits with 1 if it finds any.',
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
      const known: KnownHeads | undefined =
        heads === undefined ? undefined : { heads: headsIn(heads), key: await readText(key!) };
      const lanefold = await connect(options, { start: false });
      const found: EvidenceFinding[] = [];
      let threads = 1;
      try {
        if (threadId !== undefined) found.push(...(await lanefold.evidence.verify(threadId, known)));
        else {
          const all = lanefold.evidence.verifyAll(known);
          let next = await all.next();
          for (; !next.done; next = await all.next()) found.push(next.value);
          threads = next.value;
        }
      } finally {
        await lanefold.close();
      }
      if (json) printJson(found.map(snakeKeys));
      else for (const finding of found) print(line(finding));
      if (found.length > 0) throw new Exit(exitCodes.failed);
      if (threads === 0) note('nothing was verified: this role sees no thread with a chain');
      else note(`verified ${threads === 1 ? '1 thread' : `${threads} threads`}: every entry is as it was written`);
    });

async function* headsIn(file: string): AsyncGenerator<unknown, void, void> {
  for await (const head of readJsonLines(file))
    yield typeof head === 'object' && head !== null ? camelKeys(head) : head;
}

function line({ threadId, seq, upto, problem, fromThreadId, fromSeq }: EvidenceFinding): string {
  const where = seq === null ? '' : seq === upto ? `  entry ${seq}` : `  entries ${seq} to ${upto}`;
  const from = fromThreadId === undefined ? '' : ` from ${fromThreadId}  entry ${fromSeq}`;
  return `${threadId}${where}  ${problem}${from}`;
}

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
