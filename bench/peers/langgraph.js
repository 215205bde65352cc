import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { answer, ask, look, messagesOfRun, question } from './workload.js';

/** The graph agent -> tools -> agent with a thread per run and the default durability, `async`. */
export const open = (options) => openWith(options, 'async');

export async function openWith({ databaseUrl }, durability) {
  const checkpointer = PostgresSaver.fromConnString(databaseUrl);
  await checkpointer.setup();
  const tools = [tool(look, { name: 'look', description: 'Looks something up.', schema: z.object({ q: z.number() }) })];
  const agent = async ({ messages }) => {
    const { content, toolCalls } = await ask(messages.map((message) => ({ role: roleOf(message) })));
    return {
      messages: [new AIMessage({ content, tool_calls: toolCalls.map((call) => ({ ...call, type: 'tool_call' })) })],
    };
  };
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('agent', agent)
    .addNode('tools', new ToolNode(tools))
    .addEdge(START, 'agent')
    .addConditionalEdges('agent', ({ messages }) => (messages.at(-1).tool_calls.length > 0 ? 'tools' : END))
    .addEdge('tools', 'agent')
    .compile({ checkpointer });
  return {
    async run() {
      const { messages } = await graph.invoke(
        { messages: [new HumanMessage(question)] },
        { configurable: { thread_id: randomUUID() }, durability },
      );
      if (messages.length !== messagesOfRun || messages.at(-1).content !== answer)
        throw new Error('the graph returned another answer');
    },
    close: () => checkpointer.end(),
  };
}

const roleOf = (message) => ({ human: 'user', ai: 'assistant', tool: 'tool' })[message.getType()];
