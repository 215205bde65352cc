import { defineAgent, type Agent } from '../../agents/agent.ts';
import type { Recorder } from '../../history/recorder.ts';
import { agentTool } from '../../tools/agent-tool.ts';
import { handoffTool } from '../../tools/handoff.ts';
import type { Journal } from './journal.ts';
import { scripted } from './script.ts';
import { chaosTools } from './tools.ts';

export const builtInAgent = 'chaos';

/** The built-in agent, one that it gives tasks to, and one that it hands runs over to. */
export function chaosAgents(journal: Journal, recorder?: Recorder): Agent[] {
  const tools = chaosTools(journal, recorder);
  const common = { instructions: 'Be steady.', cycleWarning: false, maxIterations: 20 };
  const charge = { tool: 'charge', args: { ms: 60 } };
  return [
    defineAgent({
      ...common,
      name: builtInAgent,
      model: 'scripted:echo',
      tools: [...tools, agentTool('chaos-helper', { name: 'ask' }), handoffTool('chaos-next', { name: 'pass_on' })],
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
  ];
}
