/** The workload of `bench/workload.ts` for the peers: no latency, one tool call, texts of 400 characters. */
export const question = 'The quick brown fox jumps over the lazy dog. '.repeat(9).slice(0, 400);
export const answer = question;

/** The model: one round of a tool call, then the answer. */
export async function ask(messages) {
  const isAnswered = messages.at(-1).role === 'tool';
  return isAnswered
    ? { role: 'assistant', content: answer, toolCalls: [] }
    : { role: 'assistant', content: '', toolCalls: [{ id: 'call_0', name: 'look', args: { q: 0 } }] };
}

/** The tool. */
export const look = async () => answer;

const plainly = (_name, action) => action();

/**
 * The run: the model requests the tool, the tool answers, the model gives the final answer.
 *
 * @param step executes an action as a durable step of the system; without it, the run has no steps
 * @returns the final answer; the new messages are appended to `messages`
 */
export async function converse(messages, step = plainly) {
  const turn = await step('model', () => ask(messages));
  const [call] = turn.toolCalls;
  messages.push(turn, { role: 'tool', toolCallId: call.id, content: await step('look', () => look(call.args)) });
  const final = await step('model', () => ask(messages));
  messages.push(final);
  return final.content;
}

export const asked = (content) => [{ role: 'user', content }];

export function check(result) {
  if (result !== answer) throw new Error(`the run returned ${JSON.stringify(result)}`);
}
