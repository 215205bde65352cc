import type { Command } from 'commander';
import { feedback } from '../../../features/feedback/declaration.ts';
import type { GivenFeedback } from '../../../features/feedback/types.ts';
import { operationCommand } from '../operation-command.ts';
import { note, print, table } from '../output.ts';

/** Lists what people think of answers, and notes it. */
export function addFeedback(program: Command): Command {
  const group = program
    .command('feedback')
    .summary('what people think of answers')
    .description('Lists what people think of answers, and notes it.');

  operationCommand(group, feedback, 'list', {
    summary: 'list feedback, the newest first',
    examples: ['lanefold feedback --rating down --agent support'],
    flags: { limit: 'how many', after: 'the next page' },
    defaults: { limit: 20 },
    show({ data, nextAfter }) {
      if (data.length === 0) return note('there is no feedback');
      print(table(['time', 'thread', 'answer', 'agent', 'rating', 'by', 'comment'], data.map(rowOf)).join('\n'));
      if (nextAfter !== null) note(`more: --after ${nextAfter}`);
    },
  });

  operationCommand(group, feedback, 'give', {
    summary: 'say what a person thinks of an answer',
    examples: ["lanefold feedback give support-42 --run-id run_1 --rating down --comment 'Another order.'"],
    show: ({ answerSeq }, threadId) => print(`noted for the answer #${answerSeq} of ${threadId}`),
  });
  return group;
}

const rowOf = ({ at, threadId, answerSeq, agent, rating, by, comment, latest }: GivenFeedback): string[] => [
  at.toISOString(),
  threadId,
  `#${answerSeq}`,
  agent ?? '',
  latest ? (rating ?? '') : `${rating ?? ''} (earlier)`,
  by ?? '',
  comment ?? '',
];
