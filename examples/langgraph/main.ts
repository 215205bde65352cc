import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { Command, interrupt, MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { createLanefold } from 'lanefold';
import { LanefoldSaver } from 'lanefold/langgraph';

const lanefold = await createLanefold({ migrate: true, queuePrefix: 'example-langgraph', privateQueue: true });

/** A graph as another process would have it: with another saver. The "model" asks for a refund, then answers. */
const refundGraph = () =>
  new StateGraph(MessagesAnnotation)
    .addNode('model', ({ messages }) => {
      const last = messages.at(-1)!;
      if (ToolMessage.isInstance(last)) return { messages: [new AIMessage(`Done: ${String(last.content)}`)] };
      const call = { id: `call-${messages.length}`, name: 'refund', args: { order: 'A-17', euros: 40 } };
      return { messages: [new AIMessage({ content: 'I will refund it.', tool_calls: [call] })] };
    })
    .addNode('tools', ({ messages }) => {
      const [call] = (messages.at(-1) as AIMessage).tool_calls!;
      const answer = interrupt<object, string>({ approve: call!.args });
      return { messages: [new ToolMessage({ tool_call_id: call!.id!, name: 'refund', content: `refund ${answer}` })] };
    })
    .addEdge('__start__', 'model')
    .addConditionalEdges('model', ({ messages }) =>
      (messages.at(-1) as AIMessage).tool_calls?.length ? 'tools' : '__end__',
    )
    .addEdge('tools', 'model')
    .compile({ checkpointer: new LanefoldSaver(lanefold) });

const saver = new LanefoldSaver(lanefold);
const config = { configurable: { thread_id: `refund-${Date.now()}` } };
const show = async (title: string) => {
  const { threadId, contextRef } = await saver.laneOf(config);
  console.log(`\n${title}`);
  for (const { role, content } of await lanefold.contexts.project(threadId, { contextRef }))
    console.log(`  ${role}: ${JSON.stringify(content)}`);
};

try {
  await refundGraph().invoke({ messages: [new HumanMessage('Please refund my order.')] }, config);
  const { next } = await refundGraph().getState(config);
  console.log(`The graph waits before ${next[0]}, in no process.`);
  await show('The lane has no half tool group:');

  await refundGraph().invoke(new Command({ resume: 'approved' }), config);
  await show('After a person approved it, in another process:');

  // time travel: a branch from before the approval, which asks again
  const states = [];
  for await (const state of refundGraph().getStateHistory(config)) states.push(state);
  const waiting = states.find((state) => state.next[0] === 'tools')!;
  await refundGraph().invoke(null, await refundGraph().updateState(waiting.config, null));
  await refundGraph().invoke(new Command({ resume: 'denied' }), config);
  await show('The other way, from the same checkpoint:');

  const { threadId } = await saver.laneOf(config);
  const { rev } = await lanefold.threads.peek(threadId);
  console.log(`\nThe log of thread ${threadId} has ${rev} entries; nothing was overwritten.`);
} finally {
  await lanefold.close();
}
