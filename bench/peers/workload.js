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
