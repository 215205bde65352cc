import type { Random } from '../random.ts';
import { planEvent, type PlannedEvent } from './events.ts';
import { toolNames } from './tools.ts';

/** A scripted model that gives these answers, each after the latency. */
export const scripted = (turns: readonly unknown[], latencyMs: number): string =>
  `scripted:${JSON.stringify(turns)}?latency_ms=${latencyMs}`;

/**
 * A scripted model for one run: up to three rounds of one to three parallel tool calls, some of which ask another agent
 * or a person or wait for an event or a time, then an answer or a handoff, with short delays. And the events that it
 * waits for, whose names begin with `name`.
 */
export function randomScript(random: Random, name: string): { model: string; events: PlannedEvent[] } {
  const events: PlannedEvent[] = [];
  const turns: unknown[] = Array.from({ length: random.int(0, 3) }, (_, round) => ({
    text: random.chance(0.3) ? `Round ${round}.` : '',
    tools: Array.from({ length: random.int(1, 3) }, (__, i) => randomCall(random, `${name}.${round}.${i}`, events)),
  }));
  if (random.chance(0.12)) turns.push({ tools: [{ tool: 'pass_on', args: {} }] });
  turns.push('All done.');
  return { model: scripted(turns, random.int(20, 400)), events };
}

function randomCall(random: Random, name: string, events: PlannedEvent[]): { tool: string; args: object } {
  const kind = random.next();
  if (kind < 0.08) return { tool: 'ask', args: { task: 'Help.' } };
  if (kind < 0.14) {
    const planned = planEvent(random, name);
    events.push(planned);
    return { tool: 'await_event', args: { event: name, ...(planned.kept ? {} : { ms: 2_000 }) } };
  }
  if (kind < 0.19) return { tool: 'nap', args: { ms: random.int(50, 1_500) } };
  const tool = kind < 0.27 ? 'sign' : random.pick(toolNames);
  return { tool, args: { ms: random.int(5, 250) } };
}
