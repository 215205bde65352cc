import { Option, type Command } from 'commander';
import { omitUndefined } from '../../../base/common/json.ts';
import { cases, EvalCase } from '../../../features/evals/declaration.ts';
import type { EvalCase as Case, Expected, NewCase } from '../../../features/evals/types.ts';
import { toWire } from '../../../base/operations/wire.ts';
import { operationCommand } from '../operation-command.ts';
import { actor, parseJsonObject, withAgents, type ConnectionOptions } from '../options.ts';
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

const environment = ['DATABASE_URL', 'LANEFOLD_DIR'] as const;

/** Manages the cases that evals repeat. */
export function addCases(program: Command): Command {
  const group = program
    .command('cases')
    .summary('keep past runs and model calls as cases of datasets')
    .description('Manages the cases that evals repeat.');

  operationCommand(group, cases, 'list', {
    summary: 'list the cases, the oldest first',
    examples: ['lanefold cases', 'lanefold cases list --dataset refunds'],
    flags: {
      dataset: 'only of this dataset',
      tag: 'only with this tag',
      split: 'only of this part',
      limit: 'how many; default 50',
      after: 'the next page',
    },
    show({ data, nextAfter }) {
      if (data.length === 0) return note('there are no cases; keep one with `lanefold cases keep`');
      print(caseTable(data).join('\n'));
      if (nextAfter !== null) note(`more: --after ${nextAfter}`);
    },
  });

  addKeep(group);

  operationCommand(group, cases, 'get', {
    name: 'show',
    summary: 'show a case',
    examples: ['lanefold cases show case_01k7uumg'],
    arguments: ['the case'],
    show(kept) {
      for (const [name, value] of Object.entries(toWire(EvalCase, kept) as object))
        if (value !== null) print(`${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
    },
  });

  operationCommand(group, cases, 'remove', {
    summary: 'remove a case; its thread stays',
    examples: ['lanefold cases remove case_01k7uumg'],
    arguments: ['the case'],
    json: (_, id) => ({ id, removed: true }),
    show: (_, id) => print(`${id} is removed`),
  });

  operationCommand(group, cases, 'datasets', {
    summary: 'list the datasets',
    examples: ['lanefold cases datasets'],
    show(all) {
      if (all.length === 0) return note('there are no datasets; keep a case with `lanefold cases keep`');
      const rows = all.map((one) => [one.dataset, one.tenant, one.cases, one.erased, one.updatedAt.toISOString()]);
      print(table(['dataset', 'tenant', 'cases', 'erased', 'updated'], rows).join('\n'));
    },
  });
  addCasesExport(group);
  addCasesImport(group);
  return group;
}

function addKeep(group: Command): void {
  withAgents(subcommand(group, 'keep', 'keep a run or a model call as a case'))
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
          if (json) printJson(toWire(EvalCase, kept) as object);
          else print(`${kept.id} is kept in ${kept.dataset}`);
        },
        known,
      );
    });
}

const caseTable = (cases: readonly Case[]): string[] =>
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
