import { defineAgent } from '../../../src/agent/definition/agent.ts';
import { createAgentRegistry, type AgentRegistry } from '../../../src/agent/definition/registry.ts';
import type { Random } from '../../../src/ops/chaos/schedule.ts';
import { createModelRegistry } from '../../../src/agent/models/registry.ts';
import { callAgent, spawnAgent } from '../../../src/agent/tools/agent-tool.ts';
import { type AgentTask, sleep, waitFor, type WaitTimeout } from '../../../src/agent/tools/wait.ts';
import { defineTool } from '../../../src/agent/tools/define-tool.ts';
import { handOff } from '../../../src/agent/tools/handoff.ts';
import type { ToolCallContext } from '../../../src/agent/tools/tool.ts';
import { caller, common, modelThat, newCounting, settings, type Choose } from '../processes/agents.ts';
import { shareOf } from './rooms.ts';
import { withOutages } from './circuits.ts';
import { events } from './waits.ts';

/** A tool that waits, and draws what it does from the seed, for its call. */
const waiting = (name: string, execute: (random: Random, context: ToolCallContext) => unknown) =>
  defineTool({
    name,
    input: { type: 'object' },
    execute: (_, context) => {
      const { runId, round, callIndex } = context;
      return execute(caller().world.chances.of(`${name} ${runId} ${round}.${callIndex}`), context);
    },
  });
const timeout = (random: Random): WaitTimeout => (random.chance(0.4) ? { timeoutMs: random.int(500, 15_000) } : {});
const task = (random: Random, { runId, round, callIndex }: ToolCallContext): AgentTask => ({
  input: `for ${runId} ${round}.${callIndex}`,
  ...(random.chance(0.3) ? { context: 'fork' } : {}),
});

const waitingTools = [
  waiting('await_event', (random) => waitFor(`event:${random.int(1, events)}`, { timeoutMs: random.int(500, 20_000) })),
  waiting('nap', (random) => sleep(random.int(100, 8_000))),
];
/** Gives work to one of these agents. */
const delegating = (...to: string[]) => [
  waiting('delegate', (random, context) => callAgent(random.pick(to), task(random, context), timeout(random))),
  waiting('spawn', (random, context) => spawnAgent(random.pick(to), task(random, context))),
];
const passing = (name: string, to: string) =>
  defineTool({ name, input: { type: 'object' }, execute: () => handOff(to) });

/** The rooms that a simulation may not use, by their tools. */
const roomOf: Record<string, string> = {
  await_event: 'waits',
  nap: 'waits',
  delegate: 'waits',
  spawn: 'waits',
  pass: 'handoffs',
  return: 'handoffs',
};

/** Which tool is called: those that do least are called most. */
const choose: Choose = (random, offered) => {
  const { chances } = caller().world;
  const used = offered.filter((name) => shareOf(chances, roomOf[name] ?? 'runs') > 0);
  return random.chance(0.5) ? random.pick(['look', 'pay']) : random.pick(used);
};

export const models = createModelRegistry({ models: { 'simulated:x': withOutages(modelThat(choose)) } });
export const counting = () => newCounting(models);

const agent = {
  model: 'simulated:x',
  name: 'agent',
  ...settings,
  tools: [...common, ...waitingTools, ...delegating('other', 'rare'), passing('pass', 'other')],
  /** Its runs continue under the version that they began with. */
  resume: 'pinned',
} as const;
const agents = {
  one: defineAgent({ ...agent, version: '1' }),
  two: defineAgent({ ...agent, version: '2', instructions: 'You are the second.' }),
  other: defineAgent({
    model: 'simulated:x',
    name: 'other',
    ...settings,
    tools: [...common, ...waitingTools, ...delegating('rare'), passing('return', 'agent')],
  }),
  rare: defineAgent({ model: 'simulated:x', name: 'rare', tools: [...common, ...waitingTools], ...settings }),
};

/** The agents of the processes of a deployment. */
export const deployments = {
  all: [agents.one, agents.two, agents.other, agents.rare],
  before: [agents.one, agents.other],
  after: [agents.two, agents.one, agents.other],
  later: [agents.two, agents.other, agents.rare],
  small: [agents.other],
};
export type Deployment = keyof typeof deployments;

const registries = new Map<Deployment, AgentRegistry>();
for (const [name, definitions] of Object.entries(deployments))
  registries.set(name as Deployment, await createAgentRegistry(definitions));

export const agentsOf = (deployment: Deployment): AgentRegistry => registries.get(deployment)!;
