import { defineScorer } from './define-scorer.ts';
import { firstDifference } from './difference.ts';

/** `expected.tool`: whether the run called the tool with these arguments, among others. */
export const toolScorer = defineScorer({
  name: 'tool',
  version: '1',
  score: ({ toolCalls, expected }) => {
    if (!expected.tool) return null;
    const { name, arguments: wanted = {} } = expected.tool;
    const calls = toolCalls.filter((call) => call.name === name);
    if (calls.length === 0) {
      const called = [...new Set(toolCalls.map((call) => call.name))];
      return { score: false, reason: `${name} was not called; ${called.join(', ') || 'no tool'} was.` };
    }
    const differences = calls.map((call) => firstDifference(call.arguments, wanted, { extraKeys: true }));
    if (differences.includes(null)) return true;
    return { score: false, reason: `${name} was called with other arguments: ${differences[0]}.` };
  },
});
