import { defineAgent, type Agent } from '../../../agent/definition/agent.ts';
import type { Recorder } from '../../history/recorder.ts';
import { agentTool } from '../../../agent/tools/agent-tool.ts';
import { handoffTool } from '../../../agent/tools/handoff.ts';
import type { Journal } from './journal.ts';
import { scripted, chaosTools, waitingTools } from './tools.ts';
import { limitedAgent, oddAgent, scheduledAgent } from './features.ts';

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
