import { InvalidArgumentError, type Command } from 'commander';
import type { ListedVersion, VersionChange } from '../../../agent/definition/types.ts';
import { printable } from '../../../base/log/logger.ts';
import type { Lanefold } from '../../../lanefold/lanefold.ts';
import { agents as declaration } from '../../../runs/operations/agents/declaration.ts';
import { subcommand, withLanefold } from '../connect.ts';
import { commandHelp } from '../help.ts';
import { operationCommand } from '../operation-command.ts';
import { wholeNumber, type ConnectionOptions } from '../options.ts';
import { note, print, printJson, table } from '../output.ts';

const name = 'name of the agent';

/** Shows the versions of agents, and chooses which of them serve. */
export function addAgents(program: Command): Command {
  const group = program
    .command('agents')
    .summary('list agents, compare their versions, and choose which serve')
    .description('Lists agents, lists and compares their versions, and chooses which versions serve.');
  addList(group);
  addRollouts(group);
  addVersions(group);
  return group;
}

function addList(group: Command): void {
  subcommand(group, 'list', 'list the agents that workers have, and how many live workers have each')
    .option('--hours <count>', 'hours to look back for workers that stopped or died', wholeNumber(1, mostHours), 24)
    .addHelpText(
      'after',
      commandHelp(['lanefold agents', 'lanefold agents list --hours 168 --json'], ['DATABASE_URL', 'LANEFOLD_DIR']),
    )
    .action(async ({ hours, json, ...options }: ConnectionOptions & { hours: number; json?: boolean }) =>
      withLanefold(
        options,
        async (lanefold) => {
          const found = [...(await agentsOfWorkers(lanefold, hours))].sort(([a], [b]) => (a < b ? -1 : 1));
          if (json) return printJson({ data: found.map(([agent, alive]) => ({ agent, alive_workers: alive })) });
          if (found.length === 0) return note(`no worker has had an agent in the last ${hours} hours`);
          print(
            table(
              ['agent', 'live workers'],
              found.map(([agent, alive]) => [agent, `${alive}`]),
            ).join('\n'),
          );
        },
        { start: false },
      ),
    );
}

/** How far the list of workers reaches back. */
export const mostHours = 720;

/** The agents of the workers of the last hours, with the number of live workers that have each. */
export async function agentsOfWorkers({ workers }: Lanefold, hours: number): Promise<Map<string, number>> {
  const alive = new Map<string, number>();
  for (const { agents, state } of await workers.list({ hours }))
    for (const agent of agents) alive.set(agent, (alive.get(agent) ?? 0) + (state === 'alive' ? 1 : 0));
  return alive;
}

function addRollouts(group: Command): void {
  operationCommand(group, declaration, 'rollouts', {
    summary: 'list which versions of agents serve their threads',
    examples: ['lanefold agents rollouts'],
    show(rollouts) {
      if (rollouts.length === 0) return note('there are no rollouts; set one with `lanefold agents rollout`');
      const rows = rollouts.map(({ agent, shares, key, updatedAt, updatedBy }) => [
        agent,
        sharesOf(shares),
        key ?? 'thread',
        updatedAt.toISOString(),
        updatedBy,
      ]);
      print(table(['agent', 'versions', 'by', 'set at', 'set by'], rows).join('\n'));
    },
  });

  operationCommand(group, declaration, 'setRollout', {
    name: 'rollout',
    summary: 'set which versions of an agent serve its threads; threads keep the version they have',
    examples: ['lanefold agents rollout support a=90 b=10', 'lanefold agents rollout support b=1'],
    arguments: [name],
    flags: { key: 'limit key whose value is hashed instead of the thread, such as customer' },
    without: ['shares'],
    more: {
      add: (command) =>
        command.argument('<label=share...>', 'shares of versions by label, such as a=90 b=10', readShares),
      fields: (_, [shares]) => ({ shares }),
    },
    show({ shares, unknown }, agent) {
      print(`${agent}: ${sharesOf(shares)}`);
      if (unknown.length > 0)
        note(`no worker has had ${unknown.join(', ')}: until one does, the first version serves instead`);
    },
  });

  operationCommand(group, declaration, 'removeRollout', {
    name: 'rollback',
    summary: 'remove the rollout of an agent: its first version serves all threads again',
    examples: ['lanefold agents rollback support'],
    arguments: [name],
    json: (_, agent) => ({ agent, removed: true }),
    show: (_, agent) => print(`the rollout of ${agent} is removed`),
  });

  operationCommand(group, declaration, 'moveThread', {
    name: 'move',
    summary: 'move a thread to another version of an agent that has a rollout',
    examples: ['lanefold agents move support-42 support b'],
    arguments: ['thread id', name, 'label of the version; without it, the rollout chooses again'],
    json: (_, thread, agent, ...[version = null]) => ({ thread_id: thread, agent, version }),
    show: (_, thread, __, ...[version = 'the version that the rollout chooses']) =>
      print(`${thread} has ${version} from now on`),
  });
}

function addVersions(group: Command): void {
  operationCommand(group, declaration, 'versions', {
    start: false,
    summary: 'list the versions of an agent, with what their runs came to',
    description:
      'Lists the versions of an agent that workers have started with, the latest first: their runs, failures, mean duration, ' +
      'tokens and cost. A version is the hash of prompt, model, settings, tools, strategy, policy and output contract.',
    examples: ['lanefold agents versions support --hours 24'],
    arguments: [name],
    flags: { hours: 'hours to look back' },
    defaults: { hours: 168 },
    show(versions, agent) {
      const header = ['version', 'label', 'first', 'last', 'runs', 'failed', 'mean ms', 'tokens', 'cost'];
      if (versions.length > 0) print(table(header, versions.map(versionRow)).join('\n'));
      else note(`no worker has started with an agent ${printable(agent)}`);
    },
  });

  operationCommand(group, declaration, 'diff', {
    start: false,
    summary: 'compare two versions of an agent',
    description: 'Shows what differs between two versions: each field with its value before and after.',
    examples: ['lanefold agents diff support v_3f2a… v_91bc…'],
    arguments: [name, 'id of a version', 'id of another version'],
    show(changes) {
      if (changes.length === 0) note('they are the same');
      else print(changes.flatMap(changeLines).join('\n'));
    },
  });
}

const sharesOf = (shares: Record<string, number>): string =>
  Object.entries(shares)
    .map(([label, share]) => `${label}=${share}`)
    .join(' ');

function readShares(text: string, before: Record<string, number> = {}): Record<string, number> {
  const [, label, share] = /^([^=]+)=(\d+(?:\.\d+)?)$/.exec(text) ?? [];
  if (label === undefined) throw new InvalidArgumentError('Write it as label=share, such as a=90.');
  return { ...before, [label]: Number(share) };
}

const versionRow = (version: ListedVersion): string[] => [
  version.id,
  version.label ?? '',
  version.firstAt.toISOString(),
  version.lastAt.toISOString(),
  `${version.runs}`,
  `${version.failed}`,
  version.meanDurationMs === null ? '' : `${Math.round(version.meanDurationMs)}`,
  `${version.inputTokens + version.outputTokens}`,
  version.cost === null ? '' : `$${version.cost.toFixed(4)}`,
];

const changeLines = ({ path, ...values }: VersionChange): string[] => [
  path,
  ...('from' in values ? [`  - ${printable(JSON.stringify(values.from))}`] : []),
  ...('to' in values ? [`  + ${printable(JSON.stringify(values.to))}`] : []),
];
