import type { JsonObject } from '../../../agent/context/message.ts';
import { aot } from '../../../agent/strategies/aot/aot.ts';
import { cot } from '../../../agent/strategies/chain/machine.ts';
import { got } from '../../../agent/strategies/got/got.ts';
import type { Strategy } from '../../../agent/strategies/registry.ts';
import { tot } from '../../../agent/strategies/tot/tot.ts';
import { trm } from '../../../agent/strategies/trm/trm.ts';
import { simulate } from '../../../agent/testing/simulate.ts';
import type { Random } from '../random.ts';
import { scripted } from './script.ts';
import { toolNames } from './tools.ts';

export interface StrategyRun {
  request: { model: string; strategy: string; strategyOptions: object };
  /** The result of an undisturbed run. */
  result: JsonObject | string;
}

/** A run of a random strategy on a scripted model, whose answers are the same for every question. */
export function randomStrategyRun(random: Random, question: string): StrategyRun {
  const score = `0.${random.int(10, 95)}`;
  switch (random.pick(['tot', 'tot', 'got', 'trm', 'aot', 'cot'] as const)) {
    case 'tot':
      return treeOfThoughts(random, question);
    case 'got':
      return answering(random, question, got, { branches: 2, generations: 1 }, `1. Part ${score}.\n2. Whole.`);
    case 'trm':
      return answering(random, question, trm, { maxSupervisionSteps: 2 }, `Fair.\nSCORE: ${score}`);
    case 'aot':
      return answering(random, question, aot, {}, `Answer: ${score}`);
    case 'cot':
      return answering(random, question, cot, {}, `Answer: ${score}`);
  }
}

function answering(random: Random, question: string, strategy: Strategy, options: object, text: string): StrategyRun {
  const { finish } = simulate(strategy, { question, options, answer: () => text });
  return {
    request: {
      model: scripted([text], random.int(20, 300)),
      strategy: strategy.name,
      strategyOptions: options,
    },
    // the result of a strategy that names none is its last message
    result: (finish!.result as JsonObject | string | undefined) ?? text,
  };
}

/** Each question, two branches at a time, may call a tool and then has two or three thoughts, which are also their scores. */
function treeOfThoughts(random: Random, question: string): StrategyRun {
  const list = Array.from({ length: random.int(2, 3) }, (_, i) => `${i + 1}. 0.${random.int(10, 95)}`).join('\n');
  const tool = { tool: random.pick(toolNames), args: { ms: random.int(5, 100) } };
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
      model: scripted(turns, random.int(20, 150)),
      strategy: 'tot',
      strategyOptions: options,
    },
    result: undisturbed.finish!.result as JsonObject,
  };
}
