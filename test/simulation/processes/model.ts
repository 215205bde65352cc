import type { ToolCall } from '../../../src/context/message.ts';
import type { StrategyEvent, StrategyState } from '../../../src/strategies/machine.ts';
import { reserve, returned } from './limits.ts';
import type { Held } from './held.ts';

/** What the model answers depends on the run and its iteration only, so that a repeated call has the same answer. */
export async function callModel(held: Held, { iteration }: StrategyState, afterMs = 0): Promise<StrategyEvent> {
  const { actor, runId } = held;
  const random = actor.world.chances.of(`model ${runId} ${iteration}`);
  const taken = await reserve(held, iteration);
  held.assertHeld();
  await actor.sleep(afterMs + random.int(20, 600));
  if (random.chance(0.04)) await actor.sleep(random.int(1_000, 9_000));
  if (taken) await returned(held, taken);
  held.assertHeld();
  if (random.chance(0.03)) {
    const error = { type: 'llm_request', message: 'busy' };
    return { type: 'model_failed', error, retryable: random.chance(0.7) };
  }
  const toolCalls = random.chance(0.45) ? [] : toolsOf(runId, iteration, random.int(1, 3), () => random.next());
  const turn = {
    ...{
      text: `answer ${iteration} of ${runId}`,
      toolCalls,
      finishReason: toolCalls.length > 0 ? 'tool_calls' : 'stop',
    },
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
  };
  return { type: 'model_answered', contextHash: 'simulated', turn };
}

const toolsOf = (runId: string, iteration: number, count: number, next: () => number): ToolCall[] =>
  Array.from({ length: count }, (_, index) => {
    const chance = next();
    const name = chance < 0.5 ? 'look' : chance < 0.75 ? 'pay' : 'ask';
    return { id: `${runId}-${iteration}-${index}`, name, arguments: { n: iteration } };
  });
