import type { LanguageModelV4, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { Attributes } from '@opentelemetry/api';
import type { ModelTurn, Usage } from '../../../agent/context/message.ts';
import type { ModelSettings } from '../../../agent/models/settings.ts';
import type { Redactor } from '../../../base/redaction/sensitive-keys.ts';
import type { ObservedModelCall, ObservedToolCall } from '../telemetry.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { ModelError } from '../../../agent/models/model-error.ts';

/*
 * The names are those of open-telemetry/semantic-conventions-genai at commit 32c328e (its migration guide calls this
 * state "latest"). All of it is "Development" there and unreleased, so check every name here against each new state.
 */

/** Names of providers that differ from the first word of the AI SDK's. */
const providerNames: Record<string, string> = {
  google: 'gcp.gemini',
  vertex: 'gcp.vertex_ai',
  azure: 'azure.ai.openai',
  'azure-openai': 'azure.ai.openai',
  'amazon-bedrock': 'aws.bedrock',
  mistral: 'mistral_ai',
  moonshotai: 'moonshot_ai',
  xai: 'x_ai',
};

/** `openai.responses` is `openai`, `google.vertex.chat` is `gcp.vertex_ai`. */
function providerName({ provider }: LanguageModelV4): string {
  const [first = '', second] = provider.split('.');
  const word = first === 'google' && second === 'vertex' ? second : first;
  return providerNames[word] ?? word;
}

interface ObservedModel {
  spanName: string;
  /** In spans and metrics alike. */
  attributes: Attributes;
}

const known = new WeakMap<LanguageModelV4, ObservedModel>();

/** What telemetry says about a model. Cached per model, because calls are many and models few. */
export function observedModel(model: LanguageModelV4): ObservedModel {
  let found = known.get(model);
  if (!found) {
    // inline scripts are model ids too; a span's name must stay short
    const name = model.modelId.slice(0, 100);
    const attributes = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': providerName(model),
      'gen_ai.request.model': name,
    };
    known.set(model, (found = { spanName: `chat ${name}`, attributes }));
  }
  return found;
}

/** Adds the settings of a call that the conventions know. */
export function addSettings(found: Attributes, settings: ModelSettings): Attributes {
  const set = (name: string, value: string | number | string[] | null | undefined) => {
    if (value != null) found[name] = value;
  };
  set('gen_ai.request.max_tokens', settings.max_output_tokens);
  set('gen_ai.request.temperature', settings.temperature);
  set('gen_ai.request.top_p', settings.top_p);
  set('gen_ai.request.top_k', settings.top_k);
  set('gen_ai.request.presence_penalty', settings.presence_penalty);
  set('gen_ai.request.frequency_penalty', settings.frequency_penalty);
  set('gen_ai.request.seed', settings.seed);
  set('gen_ai.request.stop_sequences', settings.stop_sequences);
  set('gen_ai.request.reasoning.level', settings.reasoning);
  if (settings.response_format) set('gen_ai.output.type', settings.response_format.type);
  return found;
}

/** Our counters and their names in the conventions. */
export const usageNames = {
  input_tokens: 'input_tokens',
  output_tokens: 'output_tokens',
  cache_read_tokens: 'cache_read.input_tokens',
  cache_write_tokens: 'cache_write.input_tokens',
  reasoning_tokens: 'reasoning.output_tokens',
} as const;

const addUsageUnder = (prefix: string) => {
  const names = Object.entries(usageNames).map(([counter, name]) => [counter, `${prefix}.${name}`] as const);
  return (found: Attributes, usage: Usage): Attributes => {
    for (const [counter, name] of names) {
      if (usage[counter] !== undefined) found[name] = usage[counter];
    }
    return found;
  };
};

export const addUsage = addUsageUnder('gen_ai.usage');
export const addLostUsage = addUsageUnder('lanefold.lost_usage');

export function addAnswer(found: Attributes, turn: ModelTurn): Attributes {
  if (turn.finishReason !== null) found['gen_ai.response.finish_reasons'] = [turn.finishReason];
  if (turn.responseId !== undefined) found['gen_ai.response.id'] = turn.responseId;
  return found;
}

/* The content of calls, recorded on request: redacted, and as JSON, because span attributes have no structure. */

type Part = { type: string; [key: string]: unknown };
type PromptPart = Exclude<LanguageModelV4Prompt[number]['content'], string>[number];

export function inputContent(redactor: Redactor, { prompt, tools }: ObservedModelCall): Attributes {
  const messages = prompt.map(({ role, content }) => ({
    role,
    parts: typeof content === 'string' ? [{ type: 'text', content }] : content.map(toPart),
  }));
  const definitions = tools.map(({ name, description, inputSchema }) => ({
    type: 'function',
    name,
    description,
    parameters: inputSchema,
  }));
  return {
    'gen_ai.input.messages': asJson(redactor, messages),
    ...(tools.length > 0 ? { 'gen_ai.tool.definitions': asJson(redactor, definitions) } : {}),
  };
}

export function outputContent(redactor: Redactor, turn: ModelTurn): Attributes {
  const parts: Part[] = [
    ...(turn.thinking ? [{ type: 'reasoning', content: turn.thinking }] : []),
    ...(turn.text ? [{ type: 'text', content: turn.text }] : []),
    ...turn.toolCalls.map((call) => ({ type: 'tool_call', id: call.id, name: call.name, arguments: call.arguments })),
  ];
  return { 'gen_ai.output.messages': asJson(redactor, [{ role: 'assistant', parts }]) };
}

export const toolArguments = (redactor: Redactor, { call }: ObservedToolCall): Attributes => ({
  'gen_ai.tool.call.arguments': asJson(redactor, call.arguments),
});

export const toolResult = (redactor: Redactor, content: string): Attributes => ({
  'gen_ai.tool.call.result': redactor.text(content),
});

function toPart(part: PromptPart): Part {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { type: part.type, content: part.text };
    case 'tool-call':
      return { type: 'tool_call', id: part.toolCallId, name: part.toolName, arguments: part.input };
    case 'tool-result':
      return { type: 'tool_call_response', id: part.toolCallId, response: part.output };
    case 'file':
      // leave out the bytes: they do not belong in a trace
      return { type: 'file', mime_type: part.mediaType };
    default:
      return { type: part.type };
  }
}

const asJson = (redactor: Redactor, value: unknown): string => JSON.stringify(redactor.value(value)) ?? 'null';

/** The type of an error, from a small set: our own types and codes, else the name of its class. */
export function errorTypeOf(error: unknown): string {
  if (error instanceof ModelError) return error.errorType;
  if (error instanceof LanefoldError) return error.code;
  return error instanceof Error ? error.name : '_OTHER';
}
