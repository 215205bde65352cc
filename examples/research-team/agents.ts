import { agentTool, defineAgent, defineTool } from 'lanefold';
import { z } from 'zod';
import { model } from '../model.ts';

/** Without a provider key, an agent plays these turns. */
const orOffline = (...turns: unknown[]) => (model === 'scripted:demo' ? `scripted:${JSON.stringify(turns)}` : model);
const ask = (agent: string, task: string) => ({ tool: `ask_${agent}`, args: { task } });

const lookUp = defineTool({
  name: 'look_up',
  description: 'Looks a figure up in the statistics of the city.',
  input: z.object({ figure: z.enum(['inhabitants', 'visitors']) }),
  execute: ({ figure }) => ({ figure, value: figure === 'inhabitants' ? 3_700_000 : 12_700_000 }),
});

const factChecker = defineAgent({
  name: 'fact-checker',
  model: orOffline({ tool: 'look_up', args: { figure: 'visitors' } }, 'Correct: there were 12.7 million visitors.'),
  instructions: 'You check one claim. Look its figure up, then say whether it is correct.',
  tools: [lookUp],
});

const economist = defineAgent({
  name: 'economist',
  model: orOffline(
    ask('fact-checker', 'Did 12.7 million people visit Berlin last year?'),
    'Berlin lives on its 12.7 million visitors a year, and on its start-ups.',
  ),
  instructions: 'You know the economy of cities. Have every figure checked before you name it. Two sentences.',
  tools: [agentTool(factChecker, { description: 'Checks one claim about a figure.' })],
});

const historian = defineAgent({
  name: 'historian',
  model: orOffline('Berlin is first mentioned in 1237, and has been the capital again since 1990.'),
  instructions: 'You know the history of cities. Two sentences.',
});

const archivist = defineAgent({
  name: 'archivist',
  model: orOffline('Filed under: Berlin, economy, history.'),
  instructions: 'You file a research topic under at most five keywords.',
});

const editor = defineAgent({
  name: 'editor',
  model: orOffline(
    {
      tools: [
        ask('historian', 'How old is Berlin?'),
        ask('economist', 'What does Berlin live on?'),
        { tool: 'file_topic', args: { task: 'Berlin' } },
      ],
    },
    'Berlin is nearly 800 years old. Today it lives on its visitors and its start-ups.',
  ),
  instructions: 'You write three sentences about a city. Ask both researchers at once, and have the topic filed.',
  tools: [
    agentTool(historian, { description: 'Knows the history of cities.' }),
    agentTool(economist, { description: 'Knows the economy of cities.', timeoutMs: 10 * 60_000 }),
    agentTool(archivist, { name: 'file_topic', description: 'Files a topic, in the background.', wait: false }),
  ],
});

export default [editor, historian, economist, factChecker, archivist];
