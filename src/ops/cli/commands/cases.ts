import { Option, type Command } from 'commander';
import { snakeKeys } from '../../../base/common/case.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import type { EvalCase, Expected, NewCase } from '../../../features/evals/types.ts';
import { actor, parseJsonObject, wholeNumber, withAgents, type ConnectionOptions } from '../options.ts';
import { loadAgentsFile } from '../agents-file.ts';
import { table, note, print, printJson } from '../output.ts';
import { commandHelp } from '../help.ts';
import { subcommand, withLanefold } from '../connect.ts';
import { addCasesExport, addCasesImport } from './cases-files.ts';

interface Options extends ConnectionOptions {
  json?: boolean;
}

interface KeepOptions extends Options {
  agents?: string;
  run?: string;
  call?: string;
  dataset: string;
  expected?: Expected;
  contains?: string[];
  tag?: string[];
  split?: string;
  note?: string;
}

interface ListOptions extends Options {
  dataset?: string;
  tag?: string;
  split?: string;
  limit?: number;
  after?: string;
}

const environment = ['DATABASE_URL', 'LANEFOLD_DIR'] as const;

/** Manages the cases that evals repeat. */
export function addCases(program: Command): Command {
  const cases = program
    .command('cases')
    .summary('keep past runs and model calls as cases of datasets')
    .description('Manages the cases that evals repeat. Without a command, lists them.');

  subcommand(cases, 'list', 'list the cases, the oldest first', { isDefault: true })
    .option('--dataset <name>', 'only of this dataset')
    .option('--tag <tag>', 'only with this tag')
    .option('--split <split>', 'only of this part')
    .option('--limit <count>', 'how many; default 50', wholeNumber(1, 1_000))
    .option('--after <cursor>', 'the next page')
    .addHelpText('after', commandHelp(['lanefold cases', 'lanefold cases list --dataset refunds'], [...environment]))
    .action(({ databaseUrl, dir, json, ...query }: ListOptions) =>
      withLanefold(omitUndefined({ databaseUrl, dir }), async (lanefold) => {
        const { data, nextAfter } = await lanefold.cases.list(query);
        if (json) return printJson({ data: data.map(snakeKeys), next_after: nextAfter });
        if (data.length === 0) return note('there are no cases; keep one with `lanefold cases keep`');
        print(caseTable(data).join('\n'));
        if (nextAfter !== null) note(`more: --after ${nextAfter}`);
      }),
    );

  addKeep(cases);

  subcommand(cases, 'show', 'show a case')
    .argument('<id>', 'the case')
    .addHelpText('after', commandHelp(['lanefold cases show case_01k7uumg'], [...environment]))
    .action((id: string, options: Options) =>
      withLanefold(options, async ({ cases }) => {
        const kept = await cases.get(id);
        if (options.json) return printJson(snakeKeys(kept));
        for (const [name, value] of Object.entries(snakeKeys(kept)))
          if (value !== null) print(`${name}: ${shown(value)}`);
      }),
    );

  subcommand(cases, 'remove', 'remove a case; its thread stays')
    .argument('<id>', 'the case')
    .addHelpText('after', commandHelp(['lanefold cases remove case_01k7uumg'], [...environment]))
    .action((id: string, options: Options) =>
      withLanefold(options, async ({ cases }) => {
        await cases.remove(id, { by: actor() });
        if (options.json) printJson({ id, removed: true });
        else print(`${id} is removed`);
      }),
    );

  subcommand(cases, 'datasets', 'list the datasets')
    .addHelpText('after', commandHelp(['lanefold cases datasets'], [...environment]))
    .action((options: Options) =>
      withLanefold(options, async ({ cases }) => {
        const data = await cases.datasets();
        if (options.json) return printJson({ data: data.map(snakeKeys) });
        if (data.length === 0) return note('there are no datasets; keep a case with `lanefold cases keep`');
        const rows = data.map((one) => [one.dataset, one.tenant, one.cases, one.erased, one.updatedAt.toISOString()]);
        print(table(['dataset', 'tenant', 'cases', 'erased', 'updated'], rows).join('\n'));
      }),
    );
  addCasesExport(cases);
  addCasesImport(cases);
  return cases;
}

function addKeep(cases: Command): void {
  withAgents(subcommand(cases, 'keep', 'keep a run or a model call as a case'))
    .argument('<thread>', 'its thread')
    .requiredOption('--dataset <name>', 'name that the cases of a dataset share')
    .addOption(new Option('--run <id>', 'run whose question is asked again').conflicts('call'))
    .option('--call <id>', 'model call whose answer is asked for again')
    .option('--contains <phrase...>', 'phrases that the answer has to contain')
    .option('--expected <json>', 'what is expected, as JSON: answer, contains, tool, rubric, scorer', parseJsonObject)
    .option('--tag <tag...>', 'tags')
    .option('--split <split>', 'part of the dataset, such as train or test')
    .option('--note <text>', 'note for people')
    .addHelpText(
      'after',
      commandHelp(
        ["lanefold cases keep support-42 --run run_01k7uumg --dataset refunds --contains '30 days'"],
        [...environment, 'LANEFOLD_AGENTS'],
      ),
    )
    .action(async (threadId: string, options: KeepOptions) => {
      const { databaseUrl, dir, json, agents, run, call, contains, expected, tag, ...rest } = options;
      const wanted = contains || expected ? { ...expected, ...(contains ? { contains } : {}) } : undefined;
      const { dataset, split, note: text } = rest;
      const given = { threadId, runId: run, llmCallId: call, dataset, expected: wanted, tags: tag, split, note: text };
      const known = await loadAgentsFile(agents);
      await withLanefold(
        omitUndefined({ databaseUrl, dir }),
        async ({ cases }) => {
          const kept = await cases.keep(omitUndefined(given) as NewCase, { by: actor() });
          if (json) printJson(snakeKeys(kept));
          else print(`${kept.id} is kept in ${kept.dataset}`);
        },
        known,
      );
    });
}

const caseTable = (cases: readonly EvalCase[]): string[] =>
  table(
    ['case', 'dataset', 'kind', 'agent', 'thread', 'source', 'expected', 'tags'],
    cases.map((one) => [
      one.id,
      one.dataset,
      one.kind,
      one.agent,
      one.threadId,
      one.kind === 'run' ? one.runId : one.llmCallId,
      one.erasedAt ? 'erased' : (one.expected as object | null),
      one.tags.join(', '),
    ]),
  );

const shown = (value: unknown): string =>
  value instanceof Date ? value.toISOString() : typeof value === 'string' ? value : JSON.stringify(value);
