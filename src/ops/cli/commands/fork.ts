import type { Command } from 'commander';
import { snakeKeys } from '../../../base/common/case.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import { connect } from '../connect.ts';
import { commandHelp } from '../help.ts';
import { parseJsonObject, wholeNumber, withDatabase, withJson, type ConnectionOptions } from '../options.ts';
import { print, printJson } from '../output.ts';

interface Options extends ConnectionOptions {
  id?: string;
  at?: number;
  lane?: string;
  metadata?: JsonObject;
  repair?: boolean;
  json?: boolean;
}

export const addFork = (program: Command): Command =>
  withJson(withDatabase(program.command('fork')))
    .argument('<thread>', 'thread id of the parent')
    .option(
      '--at <seq>',
      'last entry that the fork includes; -1: none; default: the last of the thread',
      wholeNumber(-1),
    )
    .option('--id <id>', 'id of the fork; default: a generated id')
    .option('--lane <ref>', 'only this lane; default: all')
    .option('--metadata <json>', 'metadata of the fork', parseJsonObject)
    .option('--repair', 'close an open tool group with error results')
    .summary('fork a thread as it was after an entry')
    .description(
      'Creates a thread with the configuration, state and contexts that another thread had after the entry --at. ' +
        'From then on, the two are independent.',
    )
    .addHelpText(
      'after',
      commandHelp(
        ['lanefold fork demo-1', 'lanefold fork demo-1 --at 12 --id demo-1b'],
        ['DATABASE_URL', 'LANEFOLD_DIR'],
      ),
    )
    .action(async (parent: string, options: Options) => {
      const lanefold = await connect(options, { start: false });
      try {
        const { id, at: seq, lane: contextRef, metadata, repair } = options;
        const asked = omitUndefined({ id, seq, contextRef, metadata, repair });
        const fork = await lanefold.threads.fork(parent, asked);
        if (options.json) return printJson(snakeKeys({ ...fork }));
        print(`${fork.id}: ${fork.rev} entries${fork.duplicate ? ', already existed' : ''}`);
      } finally {
        await lanefold.close();
      }
    });
