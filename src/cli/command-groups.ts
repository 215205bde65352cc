import type { Command } from 'commander';

/** The commands grouped by purpose, in the order in which `lanefold --help` lists them. */
const groups: Record<string, readonly string[]> = {
  'Start:': ['init', 'demo', 'dev', 'run'],
  'Processes:': ['api', 'worker', 'mcp', 'workers', 'agents', 'migrate', 'recover'],
  'Inspect:': ['threads', 'thread', 'runs', 'tree', 'tail', 'context', 'diff', 'content', 'waits'],
  'Control runs:': ['approve', 'deny', 'cancel', 'retry', 'rerun', 'events'],
  'Change threads:': ['fork', 'compact', 'erase'],
  'Access and evidence:': ['keys', 'limits', 'schedules', 'webhooks', 'tenants', 'roles', 'heads', 'verify'],
  'Test:': ['cases', 'eval', 'monitors', 'replay', 'chaos', 'check-history', 'bench'],
};
const names = Object.values(groups).flat();

/** Lists the commands of a program in groups. */
export function groupCommands(program: Command): void {
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
