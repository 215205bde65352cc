import { Option, type Command } from 'commander';
import { snakeKeys } from '../../../base/common/case.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import { actor, withAgents, withDatabase, type ConnectionOptions } from '../options.ts';
import { loadAgentsFile } from '../agents-file.ts';
import { connect, subcommand, withLanefold } from '../connect.ts';
import { UsageError } from '../errors.ts';
import { commandHelp } from '../help.ts';
import { note, print, printJson } from '../output.ts';
import { readLines, readText } from '../read-file.ts';

interface ExportOptions extends ConnectionOptions {
  agents?: string;
  tenant?: string;
}

interface ImportOptions extends ConnectionOptions {
  tenant?: string;
  recording?: string;
  agent?: string;
  model?: string;
  json?: boolean;
}

const environment = ['DATABASE_URL', 'LANEFOLD_DIR'] as const;

export const addCasesExport = (cases: Command): Command =>
  withAgents(withDatabase(cases.command('export')))
    .argument('<dataset>', 'the dataset')
    .option('--tenant <id>', 'tenant of the dataset')
    .summary('write a dataset as JSON Lines')
    .description(
      'Writes the cases of a dataset to stdout, one JSON object per line, with all messages that were sent. ' +
        '`lanefold cases import` reads it.',
    )
    .addHelpText(
      'after',
      commandHelp(['lanefold cases export refunds > refunds.jsonl'], [...environment, 'LANEFOLD_AGENTS']),
    )
    .action(async (dataset: string, { agents, tenant, ...options }: ExportOptions) => {
      const lanefold = await connect(options, { start: false, ...(await loadAgentsFile(agents)) });
      try {
        const lines = lanefold.cases.export(dataset, omitUndefined({ tenant }));
        let next = await lines.next();
        for (; !next.done; next = await lines.next()) print(next.value);
        const { cases, erased } = next.value;
        note(`${cases} cases` + (erased > 0 ? `; ${erased} left out, because their threads were erased` : ''));
      } finally {
        await lanefold.close();
      }
    });

export const addCasesImport = (cases: Command): Command =>
  subcommand(cases, 'import', 'make cases from an export, or from the turns of a recording')
    .argument('<dataset>', 'dataset that the cases join')
    .argument('[file]', 'an export, - for stdin')
    .addOption(new Option('--recording <file>', 'JSON array of {"traj": [OpenAI chat messages]}: each turn is a case'))
    .option('--agent <name>', 'with --recording: agent that is asked')
    .option('--model <provider:model>', 'with --recording: model that answered')
    .option('--tenant <id>', 'tenant of the dataset')
    .addHelpText(
      'after',
      commandHelp(
        [
          'lanefold cases import refunds refunds.jsonl',
          'lanefold cases import airline --recording airline.json --agent airline --model openai:gpt-4o',
        ],
        [...environment],
      ),
    )
    .action(async (dataset: string, file: string | undefined, options: ImportOptions) => {
      const { tenant, json, databaseUrl, dir } = options;
      const lines = await linesOf(file, options);
      await withLanefold(omitUndefined({ databaseUrl, dir }), async (lanefold) => {
        const by = { by: actor(), ...omitUndefined({ tenant }) };
        const { imported, skipped } = await lanefold.cases.import(dataset, lines, by);
        if (json) return printJson({ dataset, imported, skipped: skipped.map(snakeKeys) });
        print(`${imported} cases are imported into ${dataset}, ${skipped.length} were skipped`);
        for (const { line, because, caseId } of skipped)
          note(`line ${line} was skipped: ${reasons[because]}${caseId === null ? '' : ` (${caseId})`}`);
      });
    });

const reasons = {
  exists: 'the dataset has these messages for this agent',
  repeated: 'it repeats an earlier line',
  erased: 'the thread of this case was erased',
};

async function linesOf(file: string | undefined, { recording, agent, model }: ImportOptions) {
  if ((file === undefined) === (recording === undefined))
    throw new UsageError('Pass either a file or --recording.', 'A file is what `lanefold cases export` writes.');
  if (recording === undefined) {
    if (agent !== undefined || model !== undefined)
      throw new UsageError('--agent and --model are for --recording.', 'The lines of an export name theirs.');
    return readLines(file!);
  }
  if (agent === undefined || model === undefined)
    throw new UsageError('--recording needs --agent and --model.', 'A recording names neither.');
  const { parseRecording } = await import('../../replay/recording.ts');
  const { casesIn } = await import('../../replay/recording.ts');
  return casesIn(parseRecording(recording, await readText(recording)), { agent, model });
}
