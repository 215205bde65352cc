import type { Command } from 'commander';
import { createProgram } from '../../../src/ops/cli/main.ts';
import { code, plain, sentence, table } from './markdown.ts';

/** What a command says of itself, as its `--help` does. */
export interface CommandText {
  /** Such as `lanefold keys rotate`. */
  name: string;
  summary: string;
  description: string;
  usage: string;
  arguments: readonly (readonly [term: string, text: string])[];
  options: readonly (readonly [flags: string, text: string])[];
  examples: readonly string[];
  /** The variables that it reads. */
  environment: readonly string[];
  subcommands: readonly CommandText[];
}

export interface CommandGroup {
  title: string;
  commands: CommandText[];
}

/** The commands, in the order and under the headings of `lanefold --help`. */
export function commandGroups(): CommandGroup[] {
  const groups: CommandGroup[] = [];
  for (const command of createProgram().commands) {
    if (command.name() === 'help') continue;
    const title = (command.helpGroup() ?? '').replace(/:$/, '');
    let group = groups.find((known) => known.title === title);
    if (!group) groups.push((group = { title, commands: [] }));
    group.commands.push(textOf(command, 'lanefold'));
  }
  return groups;
}

function textOf(command: Command, parent: string): CommandText {
  const name = `${parent} ${command.name()}`;
  const help = command.createHelp();
  let shown = '';
  command.configureOutput({ writeOut: (text) => (shown += text) });
  command.outputHelp();
  const linesUnder = (heading: string) =>
    (new RegExp(`\n${heading}:\n((?:  .*\n)+)`).exec(shown)?.[1] ?? '').split('\n').filter(Boolean);
  return {
    name,
    summary: command.summary() || command.description(),
    description: command.description(),
    usage: `${name} ${command.usage()}`,
    arguments: help.visibleArguments(command).map((each) => [help.argumentTerm(each), help.argumentDescription(each)]),
    options: help
      .visibleOptions(command)
      .filter(({ long }) => long !== '--help')
      .map((each) => [help.optionTerm(each), help.optionDescription(each) + (each.mandatory ? ' (required)' : '')]),
    examples: linesUnder('Examples').map((line) => line.replace(/^ *\$ /, '')),
    // one more line of a long name has its text
    environment: linesUnder('Environment')
      .filter((line) => /^ {2}\S/.test(line))
      .flatMap((line) => line.trim().split(/ {2,}/)[0]!.split(', ')),
    subcommands: help
      .visibleCommands(command)
      .filter((each) => each.name() !== 'help')
      .map((each) => textOf(each, name)),
  };
}

/** Options that mean the same for many commands are told once. */
export function commonOptions(groups: readonly CommandGroup[]): readonly (readonly [string, string])[] {
  const leaves = (text: CommandText): CommandText[] => [text, ...text.subcommands.flatMap(leaves)];
  const all = groups.flatMap(({ commands }) => commands.flatMap(leaves)).flatMap(({ options }) => options);
  const times = new Map<string, number>();
  for (const option of all) times.set(option.join(' '), (times.get(option.join(' ')) ?? 0) + 1);
  const common = all.filter((option) => times.get(option.join(' '))! >= 10);
  return [...new Map(common.map((option) => [option[0], option])).values()];
}

/** The section of a command under a heading of this level, with its subcommands one level below. */
export function commandSection(
  text: CommandText,
  level: number,
  common: readonly (readonly [string, string])[],
): string {
  const isCommon = ([flags]: readonly [string, string]) => common.some(([known]) => known === flags);
  const own = text.options.filter((option) => !isCommon(option));
  const shared = text.options.filter(isCommon).map(([flags]) => code(flags.split(' ')[0]!));
  // the others are named by the options that they are the default of
  const reads = text.environment.filter((name) => !text.options.some(([, said]) => said.includes(`env: ${name})`)));
  const rows = [...text.arguments, ...own].map(([term, said]) => [code(term), sentence(plain(said || ''))]);
  const isGroup = text.subcommands.length > 0;
  return [
    `${'#'.repeat(level)} ${code(text.name)}`,
    sentence(plain(isGroup ? text.description : text.description || text.summary)),
    `\`\`\`text\n${text.usage}\n\`\`\``,
    ...(rows.length > 0 ? [table(['argument or option', 'meaning'], rows)] : []),
    ...(shared.length > 0 ? [`Common options: ${shared.join(', ')}.`] : []),
    ...(reads.length > 0 ? [`Reads ${reads.map(code).join(', ')}.`] : []),
    ...(text.examples.length > 0 ? [`\`\`\`sh\n${text.examples.join('\n')}\n\`\`\``] : []),
    ...text.subcommands.map((each) => commandSection(each, level + 1, common)),
  ].join('\n\n');
}

/** The parts of docs/reference/commands.md. */
export function commandParts(groups = commandGroups()): Record<string, string> {
  const common = commonOptions(groups);
  return {
    'common options': table(
      ['option', 'meaning'],
      common.map(([flags, said]) => [code(flags), sentence(plain(said))]),
    ),
    commands: groups
      .map(({ title, commands }) =>
        [`## ${title}`, ...commands.map((each) => commandSection(each, 3, common))].join('\n\n'),
      )
      .join('\n\n'),
  };
}
