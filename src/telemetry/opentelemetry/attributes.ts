import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { Attributes } from '@opentelemetry/api';
import type { ModelTurn, Usage } from '../../context/message.ts';
import type { ModelSettings } from '../../models/settings/settings.ts';

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
export function providerName({ provider }: LanguageModelV4): string {
  const [first = '', second] = provider.split('.');
  const word = first === 'google' && second === 'vertex' ? second : first;
  return providerNames[word] ?? word;
}

/** Inline scripts are model ids too; a span's name must stay short. */
export const modelName = ({ modelId }: LanguageModelV4): string => modelId.slice(0, 100);

const known = new WeakMap<LanguageModelV4, Attributes>();

/** The attributes of a model, in spans and metrics alike. Cached per model, because calls are many and models few. */
export function modelAttributes(model: LanguageModelV4): Attributes {
  const found = known.get(model) ?? {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': providerName(model),
    'gen_ai.request.model': modelName(model),
  };
  known.set(model, found);
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

const usageUnder = (prefix: string) => {
  const names = Object.entries(usageNames).map(([counter, name]) => [counter, `${prefix}.${name}`] as const);
  return (usage: Usage): Attributes => {
    const found: Attributes = {};
    for (const [counter, name] of names) {
      if (usage[counter] !== undefined) found[name] = usage[counter];
    }
    return found;
  };
};

export const usageAttributes = usageUnder('gen_ai.usage');
export const lostUsageAttributes = usageUnder('lanefold.lost_usage');

export function answerAttributes(turn: ModelTurn): Attributes {
  const found: Attributes = {};
  if (turn.finishReason !== null) found['gen_ai.response.finish_reasons'] = [turn.finishReason];
  if (turn.responseId !== undefined) found['gen_ai.response.id'] = turn.responseId;
  return found;
}
