import { InvalidArgumentError, type Command } from 'commander';
import { snakeKeys } from '../../../base/common/case.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import { actor, type ConnectionOptions } from '../options.ts';
import { table, note, print, printJson } from '../output.ts';
import { commandHelp } from '../help.ts';
import { subcommand, withLanefold } from '../connect.ts';

interface Options extends ConnectionOptions {
  json?: boolean;
}

const environment = ['DATABASE_URL', 'LANEFOLD_DIR'] as const;

/** The commands of `lanefold agents` that choose which versions serve. */
export function addRollouts(agents: Command): void {
  subcommand(agents, 'rollouts', 'list which versions of agents serve their threads')
    .addHelpText('after', commandHelp(['lanefold agents rollouts'], [...environment]))
    .action((options: Options) =>
      withLanefold(options, async ({ agents: of }) => {
        const rollouts = await of.rollouts();
        if (options.json)
          return printJson({ data: rollouts.map((one) => ({ ...snakeKeys(one), weights: one.weights })) });
        if (rollouts.length === 0) return note('there are no rollouts; set one with `lanefold agents rollout`');
        const rows = rollouts.map(({ agent, weights, key, updatedAt, updatedBy }) => [
          agent,
          sharesOf(weights),
          key ?? 'thread',
          updatedAt.toISOString(),
          updatedBy,
        ]);
        print(table(['agent', 'versions', 'by', 'set at', 'set by'], rows).join('\n'));
      }),
    );

  subcommand(agents, 'rollout', 'set which versions of an agent serve its threads; threads keep the version they have')
    .argument('<agent>', 'name of the agent')
    .argument('<label=share...>', 'shares of versions by label, such as a=90 b=10', shares)
    .option('--key <key>', 'limit key whose value is hashed instead of the thread, such as customer')
    .addHelpText(
      'after',
      commandHelp(
        ['lanefold agents rollout support a=90 b=10', 'lanefold agents rollout support b=1'],
        [...environment],
      ),
    )
    .action((agent: string, weights: Record<string, number>, { key, ...options }: Options & { key?: string }) =>
      withLanefold(options, async ({ agents: of }) => {
        const rollout = await of.setRollout(agent, omitUndefined({ weights, key }), { by: actor() });
        if (options.json) return printJson({ ...snakeKeys(rollout), weights: rollout.weights });
        print(`${agent}: ${sharesOf(rollout.weights)}`);
        const { unknown } = rollout;
        if (unknown.length > 0)
          note(`no worker has had ${unknown.join(', ')}: until one does, the first version serves instead`);
      }),
    );

  subcommand(agents, 'rollback', 'remove the rollout of an agent: its first version serves all threads again')
    .argument('<agent>', 'name of the agent')
    .addHelpText('after', commandHelp(['lanefold agents rollback support'], [...environment]))
    .action((agent: string, options: Options) =>
      withLanefold(options, async ({ agents: of }) => {
        await of.removeRollout(agent, { by: actor() });
        if (options.json) printJson({ agent, removed: true });
        else print(`the rollout of ${agent} is removed`);
      }),
    );

  subcommand(agents, 'move', 'move a thread to another version of an agent that has a rollout')
    .argument('<thread>', 'thread id')
    .argument('<agent>', 'name of the agent')
    .argument('[label]', 'label of the version; without it, the rollout chooses again')
    .addHelpText('after', commandHelp(['lanefold agents move support-42 support b'], [...environment]))
    .action((thread: string, agent: string, label: string | undefined, options: Options) =>
      withLanefold(options, async ({ agents: of }) => {
        await of.moveThread(thread, agent, label ?? null, { by: actor() });
        if (options.json) printJson({ thread_id: thread, agent, version: label ?? null });
        else print(`${thread} has ${label === undefined ? 'the version that the rollout chooses' : label} from now on`);
      }),
    );
}

const sharesOf = (weights: Record<string, number>): string =>
  Object.entries(weights)
    .map(([label, share]) => `${label}=${share}`)
    .join(' ');

function shares(text: string, before: Record<string, number> = {}): Record<string, number> {
  const [, label, share] = /^([^=]+)=(\d+(?:\.\d+)?)$/.exec(text) ?? [];
  if (label === undefined) throw new InvalidArgumentError('Write it as label=share, such as a=90.');
  return { ...before, [label]: Number(share) };
}
