import { InvalidArgumentError, type Command } from 'commander';
import type { ListedVersion, VersionChange } from '../../../agent/definition/types.ts';
import { printable } from '../../../base/log/logger.ts';
import { agents as declaration } from '../../../runs/operations/agents/declaration.ts';
import { operationCommand } from '../operation-command.ts';
import { note, print, table } from '../output.ts';

const name = 'name of the agent';

/** Shows the versions of agents, and chooses which of them serve. */
export function addAgents(program: Command): void {
  const group = program
    .command('agents')
    .summary('list and compare versions of agents, and choose which serve')
    .description('Lists and compares versions of agents, and chooses which versions serve.');
  addRollouts(group);
  addVersions(group);
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
