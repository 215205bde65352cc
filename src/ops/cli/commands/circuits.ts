import type { Command } from 'commander';
import { circuits } from '../../../features/circuits/declaration.ts';
import type { ListedCircuit } from '../../../features/circuits/types.ts';
import { operationCommand } from '../operation-command.ts';
import { note, print, table } from '../output.ts';

/** Shows the circuits of models, and opens and closes them by hand. */
export function addCircuits(program: Command): Command {
  const group = program
    .command('circuits')
    .summary('hold back the calls of a model')
    .description('Shows whether workers call the models, and holds calls back by hand.');

  operationCommand(group, circuits, 'list', {
    summary: 'list the circuits of models',
    examples: ['lanefold circuits'],
    show(all) {
      if (all.length === 0) return note('there are no circuits: no worker has called a model yet');
      print(table(['model', 'state', 'failed', 'of', 'reason'], all.map(rowOf)).join('\n'));
    },
  });

  operationCommand(group, circuits, 'open', {
    summary: 'hold back the calls of a model',
    examples: [
      'lanefold circuits open openai:gpt-5 --reason maintenance',
      'lanefold circuits open openai:gpt-5 --reason maintenance --until 2026-12-01T06:00:00Z',
    ],
    flags: { reason: 'why, for the audit', until: 'when a call may probe; default: not before it is closed' },
    show: (circuit) => print(`${circuit.model} is ${stateOf(circuit)}`),
  });

  operationCommand(group, circuits, 'close', {
    summary: 'let calls of a model through again',
    examples: ['lanefold circuits close openai:gpt-5'],
    show: (circuit) => print(`${circuit.model} is ${stateOf(circuit)}`),
  });
  return group;
}

const rowOf = (circuit: ListedCircuit): string[] => [
  circuit.model,
  stateOf(circuit),
  String(circuit.failed),
  String(circuit.calls),
  circuit.reason ?? '',
];

function stateOf({ state, openUntil, openedBy }: ListedCircuit): string {
  if (state === 'closed') return 'closed';
  if (state === 'half_open') return 'half open';
  const until = openUntil ? ` until ${openUntil.toISOString()}` : '';
  return `open${until}${openedBy === null ? '' : `, by ${openedBy}`}`;
}
