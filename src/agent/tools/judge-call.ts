import { argumentsOf } from '../context/arguments.ts';
import { cutText, type AnswerCut } from '../context/cut.ts';
import type { ToolCall } from '../context/message.ts';
import { errorMessage } from './error-message.ts';
import type { ToolOutcome } from './outcome.ts';
import type { Tool } from './tool.ts';

/** Of a longer text of arguments, the model is shown both ends. */
const shownLength = 1_000;

/**
 * The outcome of a call that may not run; undefined if it may. Follows from the call as the log has it, and from how its
 * answer ended, so every worker judges alike. Whatever a call leads to comes after this: its tool, guards, approvals, waits,
 * other agents.
 *
 * @param tool undefined if the agent has no such tool
 * @param cut set if the answer was cut; then even arguments that can be read may lack their end
 */
export function judgeCall(call: ToolCall, tool: Tool | undefined, cut: AnswerCut | undefined): ToolOutcome | undefined {
  if (cut)
    return refused(
      'answer_cut',
      `${cutText(cut, 'Your answer')}, so none of its calls was executed. ${advice[cut.reason]}`,
    );
  const { arguments_raw: written } = call;
  const read = argumentsOf(call);
  if (!read.ok) {
    const shown = shorten(written ?? JSON.stringify(call.arguments));
    return refused('invalid_arguments', `${read.problem} You wrote: ${shown}`);
  }
  const required = tool?.inputSchema.required ?? [];
  if (written == null || written.trim() !== '' || required.length === 0) return undefined;
  return refused('invalid_arguments', `The call has no arguments, but the tool requires ${required.join(', ')}.`);
}

/** The outcomes of the calls of a round that may not run, by index. */
export const refusedCalls = (
  calls: readonly ToolCall[],
  tools: ReadonlyMap<string, Tool>,
  cut: AnswerCut | undefined,
): Map<number, ToolOutcome> =>
  new Map(
    calls.flatMap((call, index) => {
      const tool = tools.get(call.name);
      // a call of an unknown tool has an error of its own
      const outcome = tool || cut ? judgeCall(call, tool, cut) : undefined;
      return outcome ? [[index, outcome] as const] : [];
    }),
  );

const advice = {
  length: 'Make the calls again, with shorter arguments or fewer calls at a time.',
  content_filter: 'Go on without what it stopped.',
};

const refused = (type: string, message: string): ToolOutcome => ({
  ...errorMessage({ type, message, retryable: false }),
  attempts: 0,
  durationMs: 0,
});

const shorten = (text: string): string => {
  if (text.length <= shownLength) return text;
  return `${text.slice(0, shownLength / 2)} … ${text.slice(-shownLength / 2)}`;
};
