import { Agent, Runner, tool } from '@openai/agents-core';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents-core/testing';
import { createLanefold } from 'lanefold';
import { LanefoldSession } from 'lanefold/openai-agents';
import { z } from 'zod';

const lanefold = await createLanefold({ migrate: true, queuePrefix: 'example-openai-agents', privateQueue: true });

// answers offline; with a provider of the SDK, name a model instead
const model = new ScriptedModel([
  [functionCall('look_up_order', { order: 'A-17' }, { callId: 'call-1' })],
  [assistantMessage('Order A-17 arrives on Tuesday.')],
  [assistantMessage('It has two items.')],
  [assistantMessage('It has two items: a lamp and a shade.')],
]);
const agent = new Agent({
  name: 'support',
  instructions: 'Answer in one short sentence.',
  model,
  tools: [
    tool({
      name: 'look_up_order',
      description: 'Looks up an order.',
      parameters: z.object({ order: z.string() }),
      execute: ({ order }) => ({ order, arrives: 'Tuesday' }),
    }),
  ],
});
const runner = new Runner({ tracingDisabled: true });
const sessionId = `support-${Date.now()}`;

/** Each question opens the session again, as another process would. */
const ask = async (input: string) => {
  const session = new LanefoldSession(lanefold, { sessionId });
  const { finalOutput } = await runner.run(agent, input, { session });
  console.log(`${input} ${finalOutput}`);
};

try {
  await ask('When does my order A-17 arrive?');
  await ask('How many items does it have?');

  // the last question again: the answer and the question go from the session, not from the log
  const session = new LanefoldSession(lanefold, { sessionId });
  await session.popItem();
  await session.popItem();
  await ask('Which items does it have?');

  console.log('\nThe lane of the session:');
  for (const row of await lanefold.contexts.project(sessionId, { contextRef: 'openai_agents' }))
    console.log(`  ${row.role}: ${JSON.stringify(row.content || row.tool_calls)}`);
  const { rev } = await lanefold.threads.peek(sessionId);
  console.log(`\nThe log has ${rev} entries; nothing was deleted.`);
} finally {
  await lanefold.close();
}
