import { hasBlank, isBlank, isObjectText, isToolName, requestProblem } from '../../src/ops/chaos/provider.ts';

type Body = Record<string, any>; // eslint-disable-line @typescript-eslint/no-explicit-any

/** Why the real API of this name would refuse a request: what each is reported to refuse is in docs/reference/providers.md. */
export function refusal(api: string, body: Body): string | undefined {
  try {
    judges[api]!(body);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

const judges: Record<string, (body: Body) => void> = {
  'chat completions': ({ messages }) => {
    const problem = requestProblem(messages);
    if (problem !== undefined) throw new Error(problem);
  },
  'OpenAI Responses': judgeResponses,
  Anthropic: judgeAnthropic,
  Google: judgeGoogle,
};

function must(holds: boolean, message: string): void {
  if (!holds) throw new Error(message);
}

const isId = (id: unknown): boolean => typeof id === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(id);
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

function judgeResponses({ input }: Body): void {
  const called = new Set<string>();
  const answered = new Set<string>();
  for (const [i, item] of (input as Body[]).entries()) {
    const at = `input[${i}]`;
    const next = (input as Body[])[i + 1];
    if (item['type'] === 'function_call') {
      must(isId(item['call_id']), `${at}.call_id: string does not match pattern`);
      must(!called.has(item['call_id']), `${at}.call_id: duplicate`);
      must(isToolName(item['name']), `${at}.name: string does not match pattern`);
      must(isObjectText(item['arguments']), `${at}.arguments are not a JSON object`);
      called.add(item['call_id']);
    } else if (item['type'] === 'function_call_output') {
      const id = item['call_id'] as string;
      must(called.has(id) && !answered.has(id), `No tool call found for function call output with call_id ${id}.`);
      must(!isBlank(item['output']) && !hasBlank(item['output']), `${at}.output is empty`);
      answered.add(id);
    } else if (item['type'] === 'reasoning') {
      const follows =
        next?.['type'] === 'function_call' || next?.['type'] === 'reasoning' || next?.['role'] === 'assistant';
      must(follows, `Item ${item['id']} of type 'reasoning' was provided without its required following item.`);
    } else if (item['type'] !== 'item_reference') {
      const content = Array.isArray(item['content'])
        ? item['content'].map((part: Body) => (part['type'] === 'input_text' ? { ...part, type: 'text' } : part))
        : item['content'];
      must(!isBlank(content) && !hasBlank(content), `${at}.content is empty`);
    }
  }
  for (const id of called) must(answered.has(id), `No tool output found for function call ${id}.`);
}

function judgeAnthropic({ system, messages }: Body): void {
  for (const block of (system ?? []) as Body[])
    must(!isBlank(block['text']), 'system: text content blocks must be non-empty');
  must(messages[0]?.role === 'user', 'messages: first message must use the "user" role');
  const used = new Set<string>();
  let open: string[] = [];
  for (const [i, { role, content }] of (messages as Body[]).entries()) {
    const at = `messages.${i}`;
    must(role !== messages[i - 1]?.role, `${at}: roles must alternate`);
    must(content.length > 0, `${at}: all messages must have non-empty content`);
    for (const block of content) {
      if (block.type === 'text')
        must(!isBlank(block.text), `${at}: text content blocks must contain non-whitespace text`);
      if (block.type === 'thinking') must(Boolean(block.signature), `${at}: thinking.signature: Field required`);
    }
    if (role === 'assistant') {
      must(content.at(-1).type !== 'thinking', `${at}: The final block in an assistant message cannot be thinking`);
      const calls = (content as Body[]).filter(({ type }) => type === 'tool_use');
      for (const { id, name, input } of calls) {
        must(isId(id), `${at}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
        must(!used.has(id), `${at}: tool_use ids must be unique`);
        must(isToolName(name), `${at}.tool_use.name: String should match pattern`);
        must(isObject(input), `${at}.tool_use.input: Input should be a valid dictionary`);
        used.add(id);
      }
      open = calls.map(({ id }) => id);
      must(
        open.length === 0 || messages[i + 1]?.role === 'user',
        `${at}: tool_use ids were found without tool_result blocks`,
      );
    } else {
      const results = (content as Body[]).filter(({ type }) => type === 'tool_result');
      must(
        (content as Body[]).slice(0, results.length).every((block) => results.includes(block)),
        `${at}: results come first`,
      );
      must(
        open.every((id) => results.some((own) => own['tool_use_id'] === id)),
        `${at}: tool_use ids without tool_result`,
      );
      must(results.length === open.length, `${at}: unexpected tool_use_id found in tool_result blocks`);
      for (const own of results)
        must(!isBlank(own['content']) && !hasBlank(own['content']), `${at}: empty tool_result`);
      open = [];
    }
  }
}

function judgeGoogle({ systemInstruction, contents }: Body): void {
  for (const part of (systemInstruction?.parts ?? []) as Body[])
    must(!isBlank(part['text']), 'systemInstruction is empty');
  must(contents[0]?.role === 'user', 'Please ensure that multiturn requests begin with a user turn.');
  let open: Body[] = [];
  for (const [i, { role, parts }] of (contents as Body[]).entries()) {
    const at = `contents[${i}]`;
    must(parts.length > 0, `${at}.parts must not be empty`);
    for (const part of parts as Body[]) {
      if ('text' in part && !part['thoughtSignature'])
        must(!isBlank(part['text']), `${at}: required oneof field 'data'`);
    }
    const calls = (parts as Body[]).flatMap(({ functionCall }) => (functionCall ? [functionCall] : []));
    const results = (parts as Body[]).flatMap(({ functionResponse }) => (functionResponse ? [functionResponse] : []));
    const names = results.map(({ name }) => name);
    must(
      JSON.stringify(names) === JSON.stringify(open.map(({ name }) => name)),
      `${at}: the function response parts must equal the function call parts of the function call turn`,
    );
    for (const { name, args } of calls) {
      must(
        isToolName(name) && /^[A-Za-z_]/.test(name),
        `${at}: Invalid function name. Must start with a letter or an underscore.`,
      );
      must(isObject(args), `${at}: args must be a Struct`);
    }
    for (const { response } of results)
      must(isObject(response) && !isBlank(response.content), `${at}: empty function response`);
    const isFirstCall = calls.length === 0 || contents[i - 1]?.role === 'user';
    must(isFirstCall, `${at}: Please ensure that function call turn comes immediately after a user turn.`);
    must(calls.length === 0 || role === 'model', `${at}: a function call in a user turn`);
    open = calls;
  }
  must(open.length === 0, 'a function call has no response');
}

/** The arguments of each call in a request with the text of its result, by id (by place, with Google). */
export function pairsOf(api: string, { messages, input, contents }: Body): [unknown, unknown][] {
  const calls = new Map<unknown, unknown>();
  const pairs: [unknown, unknown][] = [];
  const text = (content: unknown) => (typeof content === 'string' ? content : JSON.stringify(content));
  for (const item of (messages ?? input ?? contents) as Body[]) {
    if (api === 'chat completions') {
      for (const { id, function: f } of item['tool_calls'] ?? []) calls.set(id, JSON.parse(f.arguments));
      if (item['role'] === 'tool') pairs.push([calls.get(item['tool_call_id']), text(item['content'])]);
    } else if (api === 'OpenAI Responses') {
      if (item['type'] === 'function_call') calls.set(item['call_id'], JSON.parse(item['arguments']));
      if (item['type'] === 'function_call_output') pairs.push([calls.get(item['call_id']), text(item['output'])]);
    } else if (api === 'Anthropic') {
      for (const block of item['content']) {
        if (block.type === 'tool_use') calls.set(block.id, block.input);
        if (block.type === 'tool_result') pairs.push([calls.get(block.tool_use_id), text(block.content)]);
      }
    } else {
      for (const { functionCall: call, functionResponse: result } of item['parts']) {
        if (call) calls.set(call.id, call.args);
        if (result) pairs.push([calls.get(result.id), text(result.response.content)]);
      }
    }
  }
  return pairs;
}
