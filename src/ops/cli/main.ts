import { Command, CommanderError } from 'commander';
import { closest } from '../../base/checks/unknown-keys.ts';
import { packageVersion } from '../../base/environment.ts';
import * as commands from './commands/index.ts';
import { prepareEnvironment, environmentHelp } from './help.ts';
import { exitCodes, report, UsageError, Exit } from './errors.ts';

/**
 * Runs a command line (without `node` and the script) and returns its exit code. Never rejects.
 *
 * @example
 * process.exitCode = await main(['run', 'What is 6 * 7?']);
 */
export async function main(argv: string[]): Promise<number> {
  // A reader such as `head` that closes the pipe early is not an error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  const program = createProgram();
  try {
    prepareEnvironment(process.env);
    refuseHelpForUnknown(program, argv);
    await program.parseAsync(argv, { from: 'user' });
    return exitCodes.ok;
  } catch (error) {
    if (error instanceof Exit) return error.exitCode;
    if (!(error instanceof CommanderError)) return report(error);
    if (error.exitCode === 0) return exitCodes.ok;
    // Running without a command shows the help, but counts as invalid usage.
    return error.code === 'commander.help' ? exitCodes.usage : report(asUsageError(error, program, argv));
  }
}

/** The program `lanefold` with all its commands. */
export function createProgram(): Command {
  const program = new Command('lanefold')
    .description('LLM agents as durable background jobs on PostgreSQL and BullMQ.')
    .version(packageVersion())
    .usage('<command> [options]')
    .helpCommand('help [command]', 'help for a command')
    .addHelpText('after', environmentHelp)
    .exitOverride()
    // report() prints usage errors in our own format.
    .configureOutput({ outputError: () => {} });
  for (const add of Object.values(commands)) add(program);
  groupCommands(program);
  // after the commands, which inherit the help command as it is when they are added
  program.addHelpCommand(
    new Command('help').argument('[command]').description('help for a command').helpGroup('Start:'),
  );
  return program;
}

/** The command that a command line begins with, such as `lanefold limits set`, and what comes after. */
function commandOf(program: Command, argv: readonly string[]): { command: Command; path: string; rest: string[] } {
  let command = program;
  const rest = [...argv];
  const path = [program.name()];
  for (const name of argv) {
    const found = command.commands.find((candidate) => candidate.name() === name);
    if (!found) break;
    command = found;
    path.push(rest.shift()!);
  }
  return { command, path: path.join(' '), rest };
}

/** Commander's message is `error: …`, with its suggestion on a second line. */
function asUsageError(error: CommanderError, program: Command, argv: readonly string[]): UsageError {
  const {
    command,
    path,
    rest: [next = ''],
  } = commandOf(program, argv);
  // a group gives what it does not know to its `list`
  const toList = error.code === 'commander.excessArguments' && command.commands.length > 0 && !next.startsWith('-');
  if (toList || error.code === 'commander.unknownCommand') return unknownCommand(next, command, path);
  const [message = '', suggestion] = error.message.replace(/^error: /, '').split('\n');
  return new UsageError(message, suggestion?.replace(/^\(|\)$/g, '') ?? `See ${path} --help.`);
}

function unknownCommand(name: string, command: Command, path: string): UsageError {
  const names = command.commands.map((known) => known.name());
  // by letters, `work` is nearer to `fork` than to `worker`
  const near = (name && names.find((known) => known.startsWith(name))) || closest(name, names);
  return new UsageError(`unknown command '${name}'`, near ? `Did you mean ${near}?` : `See ${path} --help.`);
}

/** Commander answers `work --help` and `help work` with the help of the program, as if there were such a command. */
function refuseHelpForUnknown(program: Command, [first = '', ...rest]: readonly string[]): void {
  const isHelp = first === 'help';
  const name = (isHelp ? rest[0] : first) ?? '';
  const asks = isHelp || rest.some((word) => word === '--help' || word === '-h');
  if (!asks || name === '' || name === 'help' || name.startsWith('-')) return;
  if (!program.commands.some((known) => known.name() === name)) throw unknownCommand(name, program, program.name());
}

/** The commands grouped by purpose, in the order in which `lanefold --help` lists them. */
const groups: Record<string, readonly string[]> = {
  'Start:': ['init', 'demo', 'dev', 'run'],
  'Processes:': ['api', 'worker', 'mcp', 'workers', 'agents', 'migrate', 'recover'],
  'Inspect:': ['threads', 'thread', 'runs', 'tree', 'tail', 'context', 'branches', 'diff', 'content', 'waits'],
  'Control runs:': ['approve', 'deny', 'cancel', 'retry', 'rerun', 'events'],
  'Change threads:': ['branch', 'fork', 'compact', 'erase'],
  'Access and evidence:': [
    'keys',
    'limits',
    'circuits',
    'schedules',
    'webhooks',
    'tenants',
    'roles',
    'heads',
    'verify',
  ],
  'Test:': ['cases', 'eval', 'monitors', 'alarms', 'feedback', 'replay', 'chaos', 'check-history', 'bench'],
};
const names = Object.values(groups).flat();

/** Lists the commands of a program in groups. */
function groupCommands(program: Command): void {
  for (const [heading, members] of Object.entries(groups)) {
    for (const command of program.commands) if (members.includes(command.name())) command.helpGroup(heading);
  }
  // help lists groups in the order in which their first commands appear
  const place = (command: Command) => {
    const at = names.indexOf(command.name());
    return at < 0 ? names.length : at;
  };
  (program.commands as Command[]).sort((a, b) => place(a) - place(b));
}
