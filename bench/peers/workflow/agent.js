import { asked, ask, look } from '../workload.js';

/** The run as a workflow; the directives tell the build what is which. */
export async function agent(question) {
  'use workflow';
  const messages = asked(question);
  for (;;) {
    const turn = await model(messages);
    messages.push(turn);
    if (turn.toolCalls.length === 0) return turn.content;
    const results = await Promise.all(turn.toolCalls.map(({ args }) => tool(args)));
    for (const [n, content] of results.entries())
      messages.push({ role: 'tool', toolCallId: turn.toolCalls[n].id, content });
  }
}

async function model(messages) {
  'use step';
  return ask(messages);
}

async function tool(args) {
  'use step';
  return look(args);
}
