import type { Random } from '../random.ts';
import { toolNames } from './tools.ts';

/** A scripted model that gives these answers, each after the latency. */
export const scripted = (turns: readonly unknown[], latencyMs: number): string =>
  `scripted:${JSON.stringify(turns)}?latency_ms=${latencyMs}`;

/**
 * A scripted model for one run: up to three rounds of one to three parallel tool calls, some of which ask another agent
 * or a person, then an answer or a handoff, with short delays.
 */
export function randomScript(random: Random): string {
  const turns: unknown[] = Array.from({ length: random.int(0, 3) }, (_, round) => ({
    text: random.chance(0.3) ? `Round ${round}.` : '',
    tools: Array.from({ length: random.int(1, 3) }, () => randomCall(random)),
  }));
  if (random.chance(0.12)) turns.push({ tools: [{ tool: 'pass_on', args: {} }] });
  turns.push('All done.');
  return scripted(turns, random.int(20, 400));
}

function randomCall(random: Random): { tool: string; args: object } {
  const kind = random.next();
  if (kind < 0.08) return { tool: 'ask', args: { task: 'Help.' } };
  const tool = kind < 0.16 ? 'sign' : random.pick(toolNames);
  return { tool, args: { ms: random.int(5, 250) } };
}
