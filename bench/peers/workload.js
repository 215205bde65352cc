/**
 * The run of the systems, with plain functions as its model and tools. A workload has `rounds` of tool calls before the last
 * answer. `BENCH_OPTIONS`, which the process of a system is started with, names it.
 */
import workloads from './workloads.json' with { type: 'json' };

/** Without a module of Node, which the sandbox of a workflow lacks. */
const delay = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const text = (length) => 'The quick brown fox jumps over the lazy dog. '.repeat(length / 40).slice(0, length);

const { workload = 'instant' } = JSON.parse(globalThis.process?.env?.BENCH_OPTIONS ?? '{}');
const { rounds, tools, modelMs, toolMs, bytes } = workloads[workload];

export const question = text(bytes);
export const answer = question;
/** Messages of a run. */
export const messagesOfRun = 1 + rounds * (1 + tools) + 1;

/** The model. */
export async function ask(messages) {
  if (modelMs > 0) await delay(modelMs);
  const done = messages.filter(({ role }) => role === 'tool').length / tools;
  const toolCalls = Array.from({ length: done < rounds ? tools : 0 }, (_, n) => ({
    id: `call_${done}_${n}`,
    name: 'look',
    args: { q: n },
  }));
  return { role: 'assistant', content: toolCalls.length > 0 ? '' : answer, toolCalls };
}

/** The tool. */
export async function look() {
  if (toolMs > 0) await delay(toolMs);
  return answer;
}

const plainly = (_name, action) => action();

/**
 * The run: the model requests tools, which answer at the same time, until it gives the final answer.
 *
 * @param step executes an action as a durable step of the system; without it, the run has no steps
 * @param all waits for steps that run at the same time
 * @returns the final answer; the new messages are appended to `messages`
 */
export async function converse(messages, step = plainly, all = (steps) => Promise.all(steps)) {
  for (;;) {
    const turn = await step('model', () => ask(messages));
    messages.push(turn);
    if (turn.toolCalls.length === 0) return turn.content;
    const results = await all(turn.toolCalls.map(({ args }) => step('look', () => look(args))));
    for (const [n, content] of results.entries())
      messages.push({ role: 'tool', toolCallId: turn.toolCalls[n].id, content });
  }
}

export const asked = (content) => [{ role: 'user', content }];

export function check(result) {
  if (result !== answer) throw new Error(`the run returned ${JSON.stringify(result)}`);
}
