import type { Command } from 'commander';
import { omitUndefined } from '../../../base/common/json.ts';
import { delay } from '../../../base/common/timer.ts';
import { toWire } from '../../../base/operations/wire.ts';
import { allPages } from '../../../features/evals/operations/all-pages.ts';
import { evals } from '../../../features/evals/operations/declaration.ts';
import { ListedEval, ListedEvalItem } from '../../../features/evals/store/declaration.ts';
import type { EvalVariant, ListedEval as Eval } from '../../../features/evals/store/types.ts';
import type { Lanefold } from '../../../lanefold/lanefold.ts';
import { definitionIn } from '../agents-file.ts';
import { Exit } from '../errors.ts';
import { operationCommand } from '../operation-command.ts';
import { withAgents } from '../options.ts';
import { type ReportFlags, tellReport, withReport } from './eval-report.ts';
import { table, note, print, printJson } from '../output.ts';

interface RunFlags extends ReportFlags {
  agents?: string;
  baseline?: string;
  wait?: boolean;
}

const of = ['the eval'];
const baseline = 'variant that the others are compared with; default: the first one';
const pollMs = 500;

/** Runs evals and shows their reports. Workers ask and score. */
export function addEval(program: Command): Command {
  const group = program
    .command('eval')
    .summary('ask cases again under variants, and compare the answers')
    .description('Runs evals.');

  operationCommand(group, evals, 'list', {
    summary: 'list the evals, newest first',
    examples: ['lanefold eval', 'lanefold eval list --json'],
    flags: { limit: 'how many; default 50', after: 'the next page' },
    show({ data, nextAfter }) {
      if (data.length === 0) return note('there are no evals; run one with `lanefold eval run`');
      const rows = data.map((one) => [one.id, one.dataset, one.status, counts(one), one.createdAt.toISOString()]);
      print(table(['eval', 'dataset', 'status', 'items', 'started'], rows).join('\n'));
      if (nextAfter !== null) note(`more: --after ${nextAfter}`);
    },
  });

  addRun(group);
  addShow(group);

  operationCommand(group, evals, 'report', {
    summary: 'print the report of an eval',
    examples: ['lanefold eval report eval_01k7uumg --baseline current'],
    arguments: of,
    flags: { baseline },
    more: { add: withReport },
    follow: (found, { lanefold, id, flags }) => tellReport(lanefold, id, found, flags),
  });

  for (const [verb, done, summary] of [
    ['cancel', 'cancelled', 'cancel an eval and its runs'],
    ['rescore', 'being scored again', 'score the answers of an ended eval again'],
  ] as const)
    operationCommand(group, evals, verb, {
      summary,
      examples: [`lanefold eval ${verb} eval_01k7uumg`],
      arguments: of,
      show: ({ id }) => print(`${id} is ${done}`),
    });

  operationCommand(group, evals, 'remove', {
    summary: 'remove an ended eval, and have the threads of its runs erased',
    examples: ['lanefold eval remove eval_01k7uumg'],
    arguments: of,
    json: (_, id) => ({ id, removed: true }),
    show: (_, id) => print(`${id} is removed`),
  });
  return group;
}

function addRun(group: Command): void {
  operationCommand(group, evals, 'run', {
    summary: 'run an eval, wait for its end, and print its report',
    examples: [
      'lanefold eval run --dataset refunds --model openai:gpt-5-mini openai:gpt-5 --repeats 3',
      "lanefold eval run --dataset refunds --agent support --fail-if 'pass_rate < 0.9' --junit report.xml",
      'lanefold eval run --dataset refunds --agents agents.ts --model mine:large openai:gpt-5',
    ],
    environment: ['LANEFOLD_AGENTS'],
    without: ['variants', 'judge'],
    flags: {
      tenant: 'tenant of the cases; default: default',
      dataset: 'the dataset',
      caseIds: 'only these of its cases',
      repeats: 'how often each case is asked; default 1',
      tools: 'what tools return',
      stubs: 'what each tool returns, by its name',
      maxCost: 'what its runs together may cost, in US dollars',
      maxDurationMs: 'when a run ends with the best result it has',
      fresh: 'ask again also what an earlier eval has asked',
    },
    more: { add: withVariants, fields: variantsAndJudge },
    knows: ({ agents }) => definitionIn(agents as string | undefined),
    async follow(started, { lanefold, flags }) {
      const { json, wait, baseline } = flags as RunFlags;
      if (wait === false) return json ? printJson(toWire(ListedEval, started) as object) : print(started.id);
      note(`${started.id}: ${counts(started)}`);
      const ended = await untilEnd(lanefold, started.id);
      await tellReport(
        lanefold,
        started.id,
        await lanefold.evals.report(started.id, omitUndefined({ baseline })),
        flags,
      );
      if (ended !== 'cancelled') return;
      note(`${started.id} was cancelled`);
      throw new Exit(1);
    },
  });
}

const withVariants = (command: Command): Command =>
  withReport(withAgents(command))
    .option('--agent <agent...>', 'agents to compare; default: those of the cases')
    .option('--agent-version <label...>', 'versions of the agents to compare: labels or ids')
    .option('--model <model...>', 'models to compare')
    .option('--policy <preset...>', 'context policies to compare')
    .option('--judge <agent>', 'agent that scores answers by their rubric')
    .option('--baseline <variant>', baseline)
    .option('--no-wait', 'print the eval, and do not wait for its end');

interface Compared {
  agent?: string[];
  agentVersion?: string[];
  model?: string[];
  policy?: string[];
  judge?: string;
}

/** Every combination of the given agents, versions, models and policies, and the judge. */
function variantsAndJudge(flags: Compared): object {
  const { agent = [undefined], agentVersion = [undefined], model = [undefined], policy = [undefined], judge } = flags;
  const variants = agent.flatMap((a) =>
    agentVersion.flatMap((v) =>
      model.flatMap((m) =>
        policy.map(
          (p) => omitUndefined({ agent: a, version: v, model: m, contextPolicy: p }) as unknown as EvalVariant,
        ),
      ),
    ),
  );
  return { variants, ...(judge === undefined ? {} : { judge: { agent: judge } }) };
}

function addShow(group: Command): void {
  operationCommand(group, evals, 'get', {
    name: 'show',
    summary: 'show an eval and its items',
    examples: ['lanefold eval show eval_01k7uumg'],
    arguments: of,
    async follow(found, { lanefold, id, flags }) {
      const items = await allPages((page) => lanefold.evals.items(id, page));
      if (flags['json']) {
        const list = items.map((item) => toWire(ListedEvalItem, item));
        return printJson({ ...(toWire(ListedEval, found) as object), item_list: list });
      }
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
    },
  });
}

const progress = (found: Eval): string =>
  found.unattended.length === 0 ? counts(found) : `${counts(found)}; no live worker has ${found.unattended.join(', ')}`;

/** Waits as long as it takes, and says how far it is. */
async function untilEnd({ evals }: Lanefold, id: string): Promise<Eval['status']> {
  for (let shown = ''; ;) {
    const found = await evals.get(id);
    if (progress(found) !== shown) note((shown = progress(found)));
    if (found.status !== 'running') return found.status;
    await delay(pollMs);
  }
}

const counts = ({ items }: Eval): string =>
  Object.entries(items)
    .filter(([, count]) => count > 0)
    .map(([status, count]) => `${count} ${status}`)
    .join(', ');
