import type { Recorder } from '../../history/event.ts';
import { defineTool } from '../../../agent/tools/define-tool.ts';
import { sleep, waitFor } from '../../../agent/tools/wait.ts';
import type { ToolReplay, Tool, ToolCallContext } from '../../../agent/tools/tool.ts';
import { persist, type Journal, type Client, type SentEvent } from './journal.ts';
import { delay } from '../../../base/common/timer.ts';
import type { Random } from '../schedule.ts';
import { defineAgent, type Agent } from '../../../agent/definition/agent.ts';
import { agentTool } from '../../../agent/tools/agent-tool.ts';
import { handoffTool } from '../../../agent/tools/handoff.ts';
import { limitedAgent, oddAgent, scheduledAgent } from './features.ts';

interface ToolInput {
  /** Duration of the call. */
  ms: number;
}

/** Tools whose calls wait for an event, with a time limit if they have one, or for a time. */
export const waitingTools: readonly Tool[] = [
  defineTool<{ event: string; ms?: number }>({
    name: 'await_event',
    input: { type: 'object', properties: { event: { type: 'string' }, ms: { type: 'number' } } },
    execute: ({ event, ms }) => waitFor(event, ms === undefined ? {} : { timeoutMs: ms }),
  }),
  defineTool<ToolInput>({
    name: 'nap',
    input: { type: 'object', properties: { ms: { type: 'number' } } },
    execute: ({ ms }) => sleep(ms),
  }),
];

/** Tools that a script may call at any time. */
export const toolNames = ['look', 'peek', 'charge', 'send'] as const;

/**
 * One tool for each kind of `replay`, and one that needs approval. Every tool records its starts in the journal, and
 * its executions in the history.
 */
export function chaosTools(journal: Journal, recorder?: Recorder): Tool[] {
  const tool = (name: string, replay: ToolReplay<ToolInput>, needsApproval = false): Tool =>
    defineTool<ToolInput>({
      name,
      input: { type: 'object', properties: { ms: { type: 'number' } } },
      replay,
      needsApproval,
      async execute({ ms }, { idempotencyKey, signal, threadId, runId, round, callIndex }: ToolCallContext) {
        journal.recordStart(idempotencyKey, name);
        const kind = typeof replay === 'string' ? replay : 'verify';
        const call = { run_id: runId, round, index: callIndex, name, replay: kind };
        const execution = recorder?.invoke('execute', threadId, call);
        await delay(ms, { signal }).catch((error: unknown) => {
          execution?.info('aborted');
          throw error;
        });
        execution?.ok({});
        const result = `${name} of ${idempotencyKey}`;
        if (name === 'send') journal.recordEffect(idempotencyKey, result);
        return result;
      },
    });
  const verify = {
    verify: async (_: ToolInput, { idempotencyKey }: ToolCallContext) => {
      const result = journal.findEffect(idempotencyKey);
      return result === undefined ? undefined : { result };
    },
  };
  return [
    tool('look', 'safe'),
    tool('peek', 'readOnly'),
    tool('charge', 'never'),
    tool('send', verify),
    tool('sign', 'never', true),
  ];
}

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

/** An event that a call of a run waits for, as the client sends it. */
interface PlannedEvent {
  event: string;
  afterMs: number;
  /** Several may reach the wait at once: the first counts. */
  times: number;
  /** Kept for calls that begin to wait later; otherwise the wait has a time limit. */
  kept: boolean;
}

const keepMs = 3_600_000;

const planEvent = (random: Random, event: string): PlannedEvent => ({
  event,
  afterMs: random.int(0, 1_500),
  times: random.chance(0.3) ? 2 : 1,
  kept: random.chance(0.7),
});

/** Sends the events that a run waits for. */
export async function sendEvents(client: Client, planned: readonly PlannedEvent[]): Promise<void> {
  await Promise.all(
    planned.map(async ({ event, afterMs, times, kept }) => {
      await delay(afterMs);
      await Promise.all(Array.from({ length: times }, (_, n) => send(client, event, { n }, kept)));
    }),
  );
}

async function send({ lanefold, acknowledged, signal }: Client, event: string, payload: object, kept: boolean) {
  const sent: SentEvent = { event, content: JSON.stringify(payload), resolved: null };
  acknowledged.events.push(sent);
  const receipt = await persist(() => lanefold.events.send(event, payload, kept ? { keepMs } : {}), signal);
  sent.resolved = receipt.resolved;
}

export const builtInAgent = 'chaos';

const common = { instructions: 'Be steady.', cycleWarning: false, maxIterations: 20 };
const charge = { tool: 'charge', args: { ms: 60 } };

/** The built-in agent, one that it gives tasks to, one that it hands runs over to, and one of schedules. */
export function chaosAgents(journal: Journal, recorder?: Recorder): Agent[] {
  const tools = chaosTools(journal, recorder);
  return [
    defineAgent({
      ...common,
      name: builtInAgent,
      model: 'scripted:echo',
      tools: [
        ...tools,
        ...waitingTools,
        agentTool('chaos-helper', { name: 'ask' }),
        handoffTool('chaos-next', { name: 'pass_on' }),
      ],
      // steering restarts the script, which then calls its agents again
      maxChildren: 200,
    }),
    defineAgent({ ...common, name: 'chaos-helper', model: scripted([{ tools: [charge] }, 'Helped.'], 120), tools }),
    defineAgent({
      ...common,
      name: 'chaos-next',
      model: scripted([{ tools: [charge] }, 'Done by the next.'], 80),
      tools,
    }),
    defineAgent({ ...common, name: scheduledAgent, model: scripted([{ tools: [charge] }, 'In time.'], 80), tools }),
  ];
}

/** The agents whose models are of the campaign's provider: one with strict limits, and one that gets odd answers. */
export function providerAgents(journal: Journal, recorder?: Recorder): Agent[] {
  const tools = chaosTools(journal, recorder);
  const [look] = tools;
  return [
    defineAgent({
      ...common,
      name: limitedAgent,
      model: 'provider:plain',
      settings: { maxOutputTokens: 200 },
      tools: [look!],
    }),
    defineAgent({ ...common, name: oddAgent, model: 'provider:odd', tools }),
  ];
}
