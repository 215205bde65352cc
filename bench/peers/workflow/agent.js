import { asked, ask, look } from '../workload.js';

/** The run as a workflow of three steps; the directives tell the build what is which. */
export async function agent(question) {
  'use workflow';
  const messages = asked(question);
  const turn = await model(messages);
  const [call] = turn.toolCalls;
  messages.push(turn, { role: 'tool', toolCallId: call.id, content: await tool(call.args) });
  const final = await model(messages);
  return final.content;
}

async function model(messages) {
  'use step';
  return ask(messages);
}

async function tool(args) {
  'use step';
  return look(args);
}
