import { ToolError } from '../tools/tool-error.ts';
import { defineTool } from '../tools/define-tool.ts';
import type { Tool, ToolCallContext } from '../tools/tool.ts';
import type { Conversation } from './recording.ts';
import { runsIn } from './turns.ts';

/**
 * Tools that return the recorded results. They find a result by the position of its call (tool context and iteration),
 * because recorded call ids are not unique, even within a conversation.
 */
export function replayTools(conversations: readonly Conversation[]): Tool[] {
  const names = new Set(
    conversations.flatMap(({ messages }) =>
      messages.flatMap((message) => (message.role === 'assistant' ? message.calls.map((call) => call.name) : [])),
    ),
  );
  const execute = (_: unknown, ctx: ToolCallContext): string => {
    const conversation = conversations[ctx.context['conversation'] as number];
    const run = conversation && runsIn(conversation).find(({ user }) => user === ctx.context['user']);
    const turn = run?.turns[ctx.iteration - 1];
    const result = turn === undefined ? undefined : conversation!.messages[turn + 1 + ctx.callIndex];
    if (result?.role !== 'tool')
      throw new ToolError('The recording has no result for this call.', { type: 'not_recorded', retryable: false });
    return result.content;
  };
  return [...names].sort().map((name) => defineTool({ name, input: { type: 'object' }, execute }));
}
