import { saysNothing } from '../../models/sending/acceptable.ts';
import { parseJson } from '../../common/json.ts';

/** A message of a chat completion, as far as providers refuse it. */
interface SentMessage {
  role?: string;
  content?: unknown;
  tool_calls?: { id?: unknown; function?: { name?: unknown; arguments?: unknown } }[];
  tool_call_id?: unknown;
}

/**
 * Why a strict provider of chat completions would refuse these messages; undefined if it would not. It refuses what any
 * of those in docs/providers.md refuses.
 */
export function requestProblem(messages: readonly SentMessage[]): string | undefined {
  let open: unknown[] = [];
  for (const [i, message] of messages.entries()) {
    const at = `message ${i} (${message.role})`;
    const calls = message.tool_calls ?? [];
    if (hasBlank(message.content)) return `${at} has an empty part`;
    if (calls.length === 0 && isBlank(message.content)) return `${at} is empty`;
    if (message.role === 'tool') {
      if (message.tool_call_id !== open[0]) return `${at} is not the result of the next call`;
      open = open.slice(1);
      continue;
    }
    if (open.length > 0) return `${at} comes before the results of ${open.length} calls`;
    const problem = calls.map((call) => callProblem(call)).find((found) => found !== undefined);
    if (problem !== undefined) return `${at}: ${problem}`;
    open = calls.map(({ id }) => id);
    if (new Set(open).size < open.length) return `${at} has two calls with one id`;
  }
  return open.length > 0 ? `${open.length} calls have no result` : undefined;
}

/** Whether a content is missing, or has no text but white space and nothing else. */
export const isBlank = (content: unknown): boolean =>
  typeof content === 'string' || Array.isArray(content) ? saysNothing(content) : true;

/** Whether one of several parts is a blank text. */
export const hasBlank = (content: unknown): boolean =>
  Array.isArray(content) && content.length > 1 && content.some((part) => saysNothing([part]));

function callProblem({ id, function: called }: NonNullable<SentMessage['tool_calls']>[number]): string | undefined {
  if (typeof id !== 'string' || id === '') return 'a call has no id';
  if (id.length > 40) return 'the id of a call is too long';
  if (!isToolName(called?.name)) return 'the name of a call is not valid';
  return isObjectText(called?.arguments) ? undefined : 'the arguments of a call are not a JSON object';
}

export const isToolName = (name: unknown): boolean => typeof name === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(name);

export function isObjectText(text: unknown): boolean {
  try {
    const value: unknown = parseJson(text as string);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
