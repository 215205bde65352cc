import type { Command } from 'commander';
import type { VersionChange } from '../../../agent/definition/version.ts';
import { snakeKeys } from '../../../base/common/case.ts';
import type { ListedVersion } from '../../../runs/operations/agents/versions.ts';
import { printable } from '../../../base/log/logger.ts';
import { connect } from '../connect.ts';
import { table, note, print, printJson } from '../output.ts';
import { commandHelp } from '../help.ts';
import { withDatabase, wholeNumber, withJson, type ConnectionOptions } from '../options.ts';
import { addRollouts } from './rollouts.ts';

interface Options extends ConnectionOptions {
  hours: number;
  json?: boolean;
}

const environment = ['DATABASE_URL', 'LANEFOLD_DIR'] as const;

export function addAgents(program: Command): void {
  const agents = program.command('agents').summary('list and compare versions of agents, and choose which serve');
  addRollouts(agents);

  withJson(withDatabase(agents.command('versions')))
    .argument('<agent>', 'name of the agent')
    .option('--hours <n>', 'count the runs of the last n hours', wholeNumber(1, 8_760), 168)
    .summary('list the versions of an agent, with what their runs came to')
    .description(
      'Lists the versions of an agent that workers have started with, the latest first: their runs, failures, mean duration, ' +
        'tokens and cost. A version is the hash of prompt, model, settings, tools, strategy, policy and output contract.',
    )
    .addHelpText('after', commandHelp(['lanefold agents versions support --hours 24'], [...environment]))
    .action(async (agent: string, { hours, ...options }: Options) => {
      const lanefold = await connect(options, { start: false });
      try {
        const versions = await lanefold.agents.versions(agent, { hours });
        if (options.json) return printJson({ data: versions.map((version) => snakeKeys({ ...version })) });
        const header = ['version', 'label', 'first', 'last', 'runs', 'failed', 'mean ms', 'tokens', 'cost'];
        if (versions.length > 0) print(table(header, versions.map(toRow)).join('\n'));
        else note(`no worker has started with an agent ${printable(agent)}`);
      } finally {
        await lanefold.close();
      }
    });

  withJson(withDatabase(agents.command('diff')))
    .argument('<agent>', 'name of the agent')
    .argument('<from>', 'id of a version')
    .argument('<to>', 'id of another version')
    .summary('compare two versions of an agent')
    .description('Shows what differs between two versions: each field with its value before and after.')
    .addHelpText('after', commandHelp(['lanefold agents diff support v_3f2a… v_91bc…'], [...environment]))
    .action(async (agent: string, from: string, to: string, options: ConnectionOptions & { json?: boolean }) => {
      const lanefold = await connect(options, { start: false });
      try {
        const data = await lanefold.agents.diff(agent, from, to);
        if (options.json) return printJson({ data });
        if (data.length === 0) return note('they are the same');
        print(data.flatMap(toLines).join('\n'));
      } finally {
        await lanefold.close();
      }
    });
}

const toRow = (version: ListedVersion): string[] => [
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

const toLines = ({ path, ...values }: VersionChange): string[] => [
  path,
  ...('from' in values ? [`  - ${printable(JSON.stringify(values.from))}`] : []),
  ...('to' in values ? [`  + ${printable(JSON.stringify(values.to))}`] : []),
];
