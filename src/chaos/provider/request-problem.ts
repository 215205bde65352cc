import { parseJson } from '../../common/json.ts';

/** A message of a chat completion, as far as providers refuse it. */
interface SentMessage {
  role?: string;
  content?: unknown;
  tool_calls?: { id?: unknown; function?: { name?: unknown; arguments?: unknown } }[];
  tool_call_id?: unknown;
}

/** Why a strict provider would refuse these messages; undefined if it would not. */
export function requestProblem(messages: readonly SentMessage[]): string | undefined {
  let open: unknown[] = [];
  for (const [i, message] of messages.entries()) {
    const at = `message ${i} (${message.role})`;
    if (message.role === 'tool') {
      if (message.tool_call_id !== open[0]) return `${at} is not the result of the next call`;
      open = open.slice(1);
      continue;
    }
    if (open.length > 0) return `${at} comes before the results of ${open.length} calls`;
    const calls = message.tool_calls ?? [];
    if (isBlank(message.content) && calls.length === 0) return `${at} is empty`;
    const problem = calls.map((call) => callProblem(call)).find((found) => found !== undefined);
    if (problem !== undefined) return `${at}: ${problem}`;
    open = calls.map(({ id }) => id);
    if (new Set(open).size < open.length) return `${at} has two calls with one id`;
  }
  return open.length > 0 ? `${open.length} calls have no result` : undefined;
}

const isBlank = (content: unknown): boolean =>
  typeof content === 'string' ? content.trim() === '' : !Array.isArray(content) || content.length === 0;

function callProblem({ id, function: called }: NonNullable<SentMessage['tool_calls']>[number]): string | undefined {
  if (typeof id !== 'string' || id === '') return 'a call has no id';
  if (typeof called?.name !== 'string' || !/^[\w-]{1,64}$/.test(called.name)) return 'the name of a call is not valid';
  return isObject(called.arguments) ? undefined : 'the arguments of a call are not a JSON object';
}

function isObject(text: unknown): boolean {
  try {
    const value: unknown = parseJson(text as string);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
