import { Option, type Command } from 'commander';
import { writeFile } from 'node:fs/promises';
import type { OptionsWith } from '../../../agent/definition/options.ts';
import { snakeKeys } from '../../../base/common/case.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import { failIf } from '../../../features/evals/condition/fail-if.ts';
import { parseCondition } from '../../../features/evals/condition/parse.ts';
import { toJUnit } from '../../../features/evals/report/junit.ts';
import { toMarkdown } from '../../../features/evals/report/markdown.ts';
import { toJson } from '../../../features/evals/report/to-json.ts';
import type { Lanefold } from '../../../lanefold/lanefold.ts';
import { specJson } from '../../../features/evals/operations/spec-json.ts';
import type { EvalDefinition, EvalTools, EvalVariant, ListedEval } from '../../../features/evals/operations/types.ts';
import { actor, duration, parseJsonObject, wholeNumber, withAgents, type ConnectionOptions } from '../options.ts';
import { definitionIn } from '../agents-file.ts';
import { table, note, print, printJson } from '../output.ts';
import { Exit } from '../errors.ts';
import { commandHelp } from '../help.ts';
import { subcommand, withLanefold } from '../connect.ts';
import { delay } from '../../../base/common/timer.ts';

interface Options extends ConnectionOptions {
  json?: boolean;
}

/** What is done with a report. */
interface ReportOptions {
  baseline?: string;
  failIf?: string;
  junit?: string;
  markdown?: string;
}

/** Flags of the options of runs that an eval may bound. */
const bounds: { [NAME in keyof OptionsWith<{ evals: 'bound' }>]-?: Option } = {
  maxCost: new Option('--max-cost <dollars>', 'what its runs together may cost').argParser(Number),
  maxDurationMs: new Option('--max-duration <duration>', 'when a run ends with the best result it has').argParser(
    duration,
  ),
};

interface RunOptions extends Options, ReportOptions {
  dataset: string;
  tag?: string;
  split?: string;
  agents?: string;
  agent?: string[];
  agentVersion?: string[];
  model?: string[];
  policy?: string[];
  repeats?: number;
  tools?: EvalTools;
  stubs?: Record<string, never>;
  concurrency?: number;
  fresh?: boolean;
  judge?: string;
  wait?: boolean;
  tenant?: string;
}

const environment = ['DATABASE_URL', 'LANEFOLD_DIR'] as const;
const pollMs = 500;

/** Runs evals and shows their reports. Workers ask and score. */
export function addEval(program: Command): Command {
  const evals = program
    .command('eval')
    .summary('ask cases again under variants, and compare the answers')
    .description('Runs evals. Without a command, lists them.');

  subcommand(evals, 'list', 'list the evals, newest first', { isDefault: true })
    .option('--limit <count>', 'how many; default 50', wholeNumber(1, 1_000))
    .option('--after <cursor>', 'the next page')
    .addHelpText('after', commandHelp(['lanefold eval', 'lanefold eval list --json'], [...environment]))
    .action(({ limit, after, ...options }: Options & { limit?: number; after?: string }) =>
      withLanefold(options, async (lanefold) => {
        const { data, nextAfter } = await lanefold.evals.list(omitUndefined({ limit, after }));
        if (options.json) return printJson({ data: data.map(toData), next_after: nextAfter });
        if (data.length === 0) return note('there are no evals; run one with `lanefold eval run`');
        const rows = data.map((one) => [one.id, one.dataset, one.status, counts(one), one.createdAt.toISOString()]);
        print(table(['eval', 'dataset', 'status', 'items', 'started'], rows).join('\n'));
        if (nextAfter !== null) note(`more: --after ${nextAfter}`);
      }),
    );

  addRun(evals);

  subcommand(evals, 'show', 'show an eval and its items')
    .argument('<id>', 'the eval')
    .addHelpText('after', commandHelp(['lanefold eval show eval_01k7uumg'], [...environment]))
    .action((id: string, options: Options) =>
      withLanefold(options, async ({ evals }) => {
        const found = await evals.get(id);
        const items = await evals.items(id, { limit: 1_000 });
        if (options.json) return printJson({ ...toData(found), item_list: items.map(snakeKeys) });
        print(`${found.id} of ${found.dataset}: ${found.status}; ${progress(found)}`);
        const rows = items.map(({ no, caseId, variant, repeat, status, scores, answer, error }) => [
          no,
          caseId,
          variant,
          repeat,
          status,
          scores.map(({ scorer, score }) => `${scorer} ${score ?? '?'}`).join(', '),
          error ?? answer,
        ]);
        print(table(['no', 'case', 'variant', 'repeat', 'status', 'scores', 'answer'], rows).join('\n'));
      }),
    );

  withReport(subcommand(evals, 'report', 'print the report of an eval'))
    .argument('<id>', 'the eval')
    .addHelpText('after', commandHelp(['lanefold eval report eval_01k7uumg --baseline current'], [...environment]))
    .action(async (id: string, options: Options & ReportOptions) => {
      if (options.failIf !== undefined) parseCondition(options.failIf);
      const { databaseUrl, dir } = options;
      await withLanefold(omitUndefined({ databaseUrl, dir }), (lanefold) => report(lanefold, id, options));
    });

  for (const [verb, done, summary] of [
    ['cancel', 'cancelled', 'cancel an eval and its runs'],
    ['rescore', 'being scored again', 'score the answers of an ended eval again'],
    ['remove', 'removed', 'remove an ended eval, and have the threads of its runs erased'],
  ] as const)
    subcommand(evals, verb, summary)
      .argument('<id>', 'the eval')
      .addHelpText('after', commandHelp([`lanefold eval ${verb} eval_01k7uumg`], [...environment]))
      .action((id: string, options: Options) =>
        withLanefold(options, async ({ evals }) => {
          const found = await evals[verb](id, { by: actor() });
          if (options.json) printJson(found ? toData(found) : { id, removed: true });
          else print(`${id} is ${done}`);
        }),
      );
  return evals;
}

function addRun(evals: Command): void {
  withBounds(withAgents(withReport(subcommand(evals, 'run', 'run an eval, wait for its end, and print its report'))))
    .requiredOption('--dataset <name>', 'the dataset')
    .option('--tag <tag>', 'only cases with this tag')
    .option('--split <split>', 'only cases of this part')
    .option('--agent <agent...>', 'agents to compare; default: those of the cases')
    .option('--agent-version <label...>', 'versions of the agents to compare: labels or ids')
    .option('--model <model...>', 'models to compare')
    .option('--policy <preset...>', 'context policies to compare')
    .option('--repeats <count>', 'how often each case is asked; default 1', wholeNumber(1, 20))
    .addOption(new Option('--tools <what>', 'what tools return').choices(['recorded', 'live', 'stubs']))
    .option('--stubs <json>', 'what each tool returns, by its name', parseJsonObject)
    .option('--concurrency <count>', 'how many runs at once; default 4', wholeNumber(1, 100))
    .option('--fresh', 'ask again also what an earlier eval has asked')
    .option('--judge <agent>', 'agent that scores answers by their rubric')
    .option('--tenant <tenant>', 'tenant of the cases; default: default')
    .option('--no-wait', 'print the eval, and do not wait for its end')
    .addHelpText(
      'after',
      commandHelp(
        [
          'lanefold eval run --dataset refunds --model openai:gpt-5-mini openai:gpt-5 --repeats 3',
          "lanefold eval run --dataset refunds --agent support --fail-if 'pass_rate < 0.9' --junit report.xml",
          'lanefold eval run --dataset refunds --agents agents.ts --model mine:large openai:gpt-5',
        ],
        [...environment, 'LANEFOLD_AGENTS'],
      ),
    )
    .action(async (options: RunOptions) => {
      const { databaseUrl, dir, json, wait, tenant } = options;
      if (options.failIf !== undefined) parseCondition(options.failIf);
      const definition = await definitionIn(options.agents);
      const act = async (lanefold: Lanefold) => {
        const { evals } = lanefold;
        const started = await evals.run(definitionOf(options), omitUndefined({ tenant, by: actor() }));
        if (wait === false) return json ? printJson(toData(started)) : print(started.id);
        note(`${started.id}: ${counts(started)}`);
        const ended = await untilEnd(lanefold, started.id);
        await report(lanefold, started.id, options);
        if (ended !== 'cancelled') return;
        note(`${started.id} was cancelled`);
        throw new Exit(1);
      };
      await withLanefold(omitUndefined({ databaseUrl, dir }), act, definition);
    });
}

const withBounds = (command: Command): Command =>
  Object.values(bounds).reduce((extended, flag) => extended.addOption(flag), command);

const withReport = (command: Command): Command =>
  command
    .option('--baseline <variant>', 'variant that the others are compared with; default: the first one')
    .option('--fail-if <condition>', "exit with 1 if the report meets it, such as 'pass_rate < 0.9'")
    .option('--junit <file>', 'also write the report as JUnit XML')
    .option('--markdown <file>', 'also write the report as Markdown');

/** Every combination of the given agents, versions, models and policies. */
function definitionOf(options: RunOptions): EvalDefinition {
  const {
    agent = [undefined],
    agentVersion = [undefined],
    model = [undefined],
    policy = [undefined],
    judge,
    ...rest
  } = options;
  const variants = agent.flatMap((a) =>
    agentVersion.flatMap((v) =>
      model.flatMap((m) =>
        policy.map(
          (p) => omitUndefined({ agent: a, version: v, model: m, contextPolicy: p }) as unknown as EvalVariant,
        ),
      ),
    ),
  );
  const { dataset, tag, split, repeats, tools, stubs, concurrency, fresh } = rest;
  const bounded = Object.entries(bounds).map(([name, flag]) => [name, rest[flag.attributeName() as never]]);
  const given = { tag, split, repeats, tools, stubs, concurrency, fresh, ...Object.fromEntries(bounded) };
  return {
    dataset,
    variants,
    ...omitUndefined({ ...given, judge: judge === undefined ? undefined : { agent: judge } }),
  };
}

const progress = (found: ListedEval): string =>
  found.unattended.length === 0 ? counts(found) : `${counts(found)}; no live worker has ${found.unattended.join(', ')}`;

/** Waits as long as it takes, and says how far it is. */
async function untilEnd({ evals }: Lanefold, id: string): Promise<ListedEval['status']> {
  for (let shown = ''; ;) {
    const found = await evals.get(id);
    if (progress(found) !== shown) note((shown = progress(found)));
    if (found.status !== 'running') return found.status;
    await delay(pollMs);
  }
}

async function report(
  { evals }: Lanefold,
  id: string,
  { json, baseline, failIf: condition, junit, markdown }: Options & ReportOptions,
): Promise<void> {
  const found = await evals.report(id, omitUndefined({ baseline }));
  if (json) printJson(toJson(found));
  else print(toMarkdown(found));
  if (markdown !== undefined) await writeFile(markdown, toMarkdown(found));
  if (junit !== undefined) await writeFile(junit, toJUnit(await allItems(evals, id)));
  if (condition === undefined) return;
  const { failed, reasons } = failIf(condition, found);
  for (const reason of reasons) note(reason);
  if (failed) throw new Exit(1);
}

async function allItems(evals: Lanefold['evals'], id: string) {
  const items = await evals.items(id, { limit: 1_000 });
  for (let more = items.length === 1_000; more;) {
    const next = await evals.items(id, { after: items.at(-1)!.no, limit: 1_000 });
    items.push(...next);
    more = next.length === 1_000;
  }
  return items;
}

const counts = ({ items }: ListedEval): string =>
  Object.entries(items)
    .filter(([, count]) => count > 0)
    .map(([status, count]) => `${count} ${status}`)
    .join(', ');

const toData = ({ spec, ...one }: ListedEval) => ({ ...snakeKeys(one), spec: specJson(spec) });
