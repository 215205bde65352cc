import type { Message } from '../src/agent/context/message.ts';
import { budget } from '../src/agent/policy/budget.ts';
import { type DroppedRange, type PlacedMessage, place } from '../src/agent/policy/groups.ts';
import { heuristicTokens } from '../src/agent/policy/estimate.ts';
import { limitsOf } from '../src/agent/policy/policy.ts';
import { readPolicy } from '../src/agent/policy/read-policy.ts';
import { median } from './support/median.ts';
import { text400 } from './workload.ts';

const messages = 10_000;
const rounds = 200;

/**
 * Measures the cost of a policy for a context of 10,000 messages, half of them tool groups: counting by the heuristic
 * and choosing, without a cut, with a new cut, and with the cut of an earlier call still in force.
 */
export async function fitting(): Promise<void> {
  const context = longContext();
  const policy = readPolicy({ keepLastTurns: 3 });
  const fit = (window: number, dropped: readonly DroppedRange[]) => {
    const limits = limitsOf(policy, { model: 'bench', window });
    const startedAt = performance.now();
    const tokens = context.map(({ message }) => heuristicTokens(message));
    const done = budget(context, tokens, policy, limits, { dropped, lowWater: 0.7 });
    return { ms: performance.now() - startedAt, ...done };
  };
  const small = 200_000;
  const inForce = fit(small, []).dropped;
  console.log(`\nFitting a context of ${messages} messages, median and p95 of ${rounds} (ms, goal 10)`);
  for (const [what, window, dropped] of [
    ['everything fits', 100_000_000, []],
    ['a new cut', small, []],
    ['a cut in force', small, inForce],
  ] as [string, number, DroppedRange[]][]) {
    for (let i = 0; i < 20; i++) fit(window, dropped);
    const times = Array.from({ length: rounds }, () => fit(window, dropped).ms).sort((a, b) => a - b);
    const kept = fit(window, dropped).meta.entries_included;
    const p95 = times[Math.floor(rounds * 0.95)]!;
    console.log(`${what.padEnd(20)} ${median(times).toFixed(2)}  ${p95.toFixed(2)}  (${kept} messages sent)`);
  }
}

function longContext(): PlacedMessage[] {
  const placed: PlacedMessage[] = [];
  const push = (message: Message) => placed.push(place(placed.at(-1), message, placed.length, null));
  push({ role: 'system', content: 'Help.' });
  while (placed.length <= messages - 4) {
    const id = `call_${placed.length}`;
    push({ role: 'user', content: text400 });
    push({
      role: 'assistant',
      content: '',
      tool_calls: [{ id, name: 'look', arguments: { query: 'late orders', limit: 10 } }],
    });
    push({ role: 'tool', content: text400, tool_call_id: id, name: 'look' });
    push({ role: 'assistant', content: text400 });
  }
  while (placed.length < messages) push({ role: 'user', content: text400 });
  return placed;
}
