import { Option, type Command } from 'commander';
import { newId } from '../../../base/checks/ids.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import { toWire } from '../../../base/operations/wire.ts';
import { RunSelection } from '../../../database/store/run/declaration.ts';
import type { Lanefold } from '../../../lanefold/lanefold.ts';
import { BulkReceipt } from '../../../runs/operations/runs/declaration.ts';
import type { BulkReceipt as Receipt } from '../../../runs/operations/runs/types.ts';
import { withLanefold } from '../connect.ts';
import { Exit, exitCodes } from '../errors.ts';
import { commandHelp } from '../help.ts';
import { flagFor, valuesOf } from '../operation-command.ts';
import { actor, toPayload, withJson, withQueue, type ConnectionOptions } from '../options.ts';
import { note, print, printJson, table } from '../output.ts';

type Filter = Parameters<Lanefold['runs']['cancelMany']>[0];
interface Page {
  dryRun?: boolean;
  after?: string;
}

interface Flags extends ConnectionOptions {
  yes?: boolean;
  json?: boolean;
  request?: string;
  reason?: string;
  busy?: 'reject' | 'wait';
  freshChildren?: boolean;
  decision?: 'approve' | 'deny';
  result?: string;
  error?: string;
  dataset?: string;
  tag?: string[];
  split?: string;
  note?: string;
}

interface ManyCommand {
  name: string;
  summary: string;
  examples: string[];
  done: string;
  options?: (command: Command) => Command;
  act: (lanefold: Lanefold, filter: Filter, page: Page, flags: Flags) => Promise<Receipt>;
}

const commands: ManyCommand[] = [
  {
    name: 'cancel',
    summary: 'cancel the runs that a filter selects',
    examples: ['lanefold runs cancel --status queued --agent support', 'lanefold runs cancel --agent support --yes'],
    done: 'cancelled',
    options: (command) => command.option('--reason <text>', 'why, for the log'),
    act: ({ runs }, filter, page, { reason }) => runs.cancelMany(filter, omitUndefined({ ...page, reason })),
  },
  {
    name: 'retry',
    summary: 'ask the questions of the ended runs that a filter selects again',
    examples: ['lanefold runs retry --status failed --error-type timeout --busy wait --yes'],
    done: 'started again',
    options: (command) =>
      command
        .addOption(
          new Option('--busy <what>', 'if a thread has an active run: fail (default), or wait for it').choices([
            'reject',
            'wait',
          ]),
        )
        .option('--fresh-children', 'ask other agents again, instead of taking the answers that they gave')
        .option('--request <id>', 'repeating the command with the same id starts no run twice'),
    act: ({ runs }, filter, page, { busy, freshChildren, request: requestId }) =>
      runs.retryMany(filter, omitUndefined({ ...page, busy, freshChildren, requestId })),
  },
  {
    name: 'release',
    summary: 'let the suspended runs that a filter selects continue',
    examples: [
      'lanefold runs release --agent support --decision approve --yes',
      `lanefold runs release --agent orders --result '{"paid": true}' --yes`,
    ],
    done: 'released',
    options: (command) =>
      command
        .addOption(
          new Option('--decision <what>', 'for calls that wait for approval; default: they go on waiting').choices([
            'approve',
            'deny',
          ]),
        )
        .option('--reason <text>', 'reason for the decision')
        .option('--result <value>', 'result of the calls that wait for an event or a time: JSON or text')
        .option('--error <text>', 'these calls fail with this message instead'),
    act: ({ runs }, filter, page, { decision, reason, result, error }) =>
      runs.releaseMany(
        filter,
        omitUndefined({
          ...page,
          decision,
          reason,
          result: result === undefined ? undefined : toPayload(result),
          error,
          by: actor(),
        }),
      ),
  },
  {
    name: 'keep',
    summary: 'keep the ended runs that a filter selects as cases',
    examples: ['lanefold runs keep --status failed --agent support --dataset refunds --yes'],
    done: 'kept',
    options: (command) =>
      command
        .requiredOption('--dataset <name>', 'name that the cases of a dataset share')
        .option('--tag <tag...>', 'tags')
        .option('--split <split>', 'part of the dataset, such as train or test')
        .option('--note <text>', 'note for people'),
    act: ({ cases }, filter, page, { dataset, tag: tags, split, note: text }) =>
      cases.keepMany(filter, dataset!, omitUndefined({ ...page, tags, split, note: text, by: actor() })),
  },
];

/** Acts on all runs that a filter selects: shows how many first, and acts with --yes. */
export function addManyRuns(group: Command): void {
  for (const one of commands) {
    const command = withJson(withQueue(group.command(one.name)));
    for (const [name, schema] of Object.entries(RunSelection.shape))
      command.addOption(flagFor(name, schema, undefined, undefined));
    one.options?.(command);
    command
      .option('--yes', 'act; without it, only show which runs it concerns')
      .summary(one.summary)
      .description(`${one.summary[0]!.toUpperCase()}${one.summary.slice(1)}. Without --yes, shows how many there are.`)
      .addHelpText('after', commandHelp(one.examples, ['DATABASE_URL', 'REDIS_URL', 'LANEFOLD_DIR']))
      .action((flags: Flags) => withLanefold(flags, (lanefold) => actOnAll(lanefold, one, flags), { start: false }));
  }
}

async function actOnAll(lanefold: Lanefold, { act, done, name }: ManyCommand, flags: Flags): Promise<void> {
  const given = { ...flags, request: flags.request ?? newId('req') };
  const asked: Filter = valuesOf(RunSelection.shape, { ...flags });
  const preview = await act(lanefold, asked, { dryRun: true }, given);
  if (!flags.yes) {
    if (flags.json) return printJson(toWire(BulkReceipt, preview) as object);
    if (preview.runs.length > 0) print(rows(preview));
    return note(
      `${countOf(preview.matched)} to ${name}${preview.matched === 0 ? '' : `; to ${name} them, add --created-before ${preview.createdBefore.toISOString()} --yes`}`,
    );
  }
  const filter = { ...asked, createdBefore: preview.createdBefore };
  const all: Receipt['runs'] = [];
  for (let after: string | null | undefined; after !== null;) {
    const page = await act(lanefold, filter, omitUndefined({ after }), given);
    all.push(...page.runs);
    after = page.nextAfter;
    if (page.left > 0) note(`${countOf(page.left)} left`);
  }
  const receipt = { ...preview, dryRun: false, runs: all, left: 0, nextAfter: null };
  const refused = all.filter(({ outcome }) => outcome === 'refused').length;
  const changed = all.filter(({ outcome }) => outcome === 'done').length;
  if (flags.json) printJson(toWire(BulkReceipt, receipt) as object);
  else {
    if (all.length > 0) print(rows(receipt));
    print(`${countOf(changed)} ${done}, ${all.length - changed - refused} unchanged, ${refused} refused`);
  }
  if (refused > 0) throw new Exit(exitCodes.failed);
}

const countOf = (runs: number): string => `${runs} run${runs === 1 ? '' : 's'}`;

const rows = ({ runs }: Receipt): string =>
  table(
    ['created', 'status', 'agent', 'thread', 'run', 'outcome'],
    runs.map((run) => [
      run.createdAt.toISOString(),
      run.status,
      run.agent,
      run.threadId,
      run.id,
      run.error?.code ?? [run.outcome ?? '', run.started ?? run.caseId ?? ''].join(' ').trim(),
    ]),
  ).join('\n');
