import type { Command } from 'commander';
import type { ListedWorker } from '../../../database/store/worker/types.ts';
import { workers } from '../../../runs/operations/fleet/declaration.ts';
import { operationCommand } from '../operation-command.ts';
import { note, print, table } from '../output.ts';

export function addWorkers(program: Command): Command {
  const summary = 'list the workers and whether they are alive';
  const group = program.command('workers').summary(summary).description('Shows the workers of all processes.');
  operationCommand(group, workers, 'list', {
    start: false,
    summary,
    description:
      'Lists the workers of all processes: those that are alive, then those that recently stopped or died. A worker is dead ' +
      'when it has been silent for twice its lease, and draining when it is stopping and takes no more runs.',
    examples: ['lanefold workers', 'lanefold workers --hours 24 --json'],
    flags: { hours: 'hours to look back for workers that stopped or died' },
    defaults: { hours: 1 },
    show(found) {
      const header = ['id', 'host', 'version', 'queue', 'agents', 'runs held', 'last heartbeat', 'state'];
      if (found.length > 0) print(table(header, found.map(toRow)).join('\n'));
      note(summaryOf(found));
    },
  });
  return group;
}

/** Distinguishes no worker at work from no worker alive. */
function summaryOf(found: readonly ListedWorker[]): string {
  const alive = found.filter(({ state }) => state === 'alive');
  const draining = found.filter(({ state }) => state === 'draining').length;
  const rest = draining > 0 ? `, ${draining} draining` : '';
  if (alive.length === 0) return `no worker is alive to take runs${rest}`;
  return `${alive.length} alive, ${alive.filter(({ runsHeld }) => runsHeld > 0).length} busy${rest}`;
}

const toRow = (worker: ListedWorker): string[] => [
  worker.id,
  `${worker.host}:${worker.pid}`,
  worker.version,
  worker.queue,
  worker.agents.join(', '),
  `${worker.runsHeld} of ${worker.concurrency}`,
  worker.heartbeatAt.toISOString(),
  worker.state,
];
