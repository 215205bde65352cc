import type { JsonObject } from '../../context/message.ts';
import { tot } from '../../strategies/tot/tot.ts';
import { simulate } from '../../testing/simulate.ts';
import type { Random } from '../random.ts';

export interface RandomTree {
  request: { model: string; strategy: 'tot'; strategyOptions: object };
  /** The result of an undisturbed run. */
  result: JsonObject;
}

/**
 * A tree of thoughts on a scripted model: each question, two branches at a time, may call a tool and then has two or
 * three thoughts, which are also their scores.
 */
export function randomTree(random: Random, question: string): RandomTree {
  const list = Array.from({ length: random.int(2, 3) }, (_, i) => `${i + 1}. 0.${random.int(10, 95)}`).join('\n');
  const tool = { tool: random.pick(['look', 'charge', 'send']), args: { ms: random.int(5, 100) } };
  const turns = random.chance(0.7) ? [{ tools: [tool] }, list] : [list];
  const options = { maxDepth: random.int(1, 2), branches: 2, recordThoughts: random.chance(0.5) };
  const undisturbed = simulate(tot, {
    ...{ question, options },
    answer: ({ messages }) =>
      turns.length === 1 || messages.at(-1)?.role === 'tool'
        ? list
        : { toolCalls: [{ id: 'c', name: tool.tool, arguments: tool.args, arguments_raw: JSON.stringify(tool.args) }] },
  });
  return {
    request: {
      model: `scripted:${JSON.stringify(turns)}?latency_ms=${random.int(20, 150)}`,
      strategy: 'tot',
      strategyOptions: options,
    },
    result: undisturbed.finish!.result as JsonObject,
  };
}
