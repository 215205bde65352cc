import type { LanguageModelV4 } from '@ai-sdk/provider';

/** What the API of a provider accepts in a history. docs/providers.md says who refuses what. */
export interface Dialect {
  name: DialectName;
  /** Ids of tool calls that it accepts. */
  ids: RegExp;
  /** An id may be used once in a conversation; otherwise, once in an answer. */
  idsOnce: boolean;
  /** Length and beginning of the ids that replace others. */
  idPrefix: string;
  idLength: number;
  /** Names of called tools that it accepts. */
  names: RegExp;
  /** The conversation must begin with a user message. */
  userFirst: boolean;
  /** System messages may stand only at the beginning. */
  systemFirst: boolean;
}

export type DialectName = 'openai' | 'responses' | 'kimi' | 'mistral' | 'anthropic' | 'google' | 'verbatim';

/** What every provider but Mistral accepts: the characters of Anthropic, and the 40 of OpenAI's chat completions. */
const common = {
  ...{ ids: /^[A-Za-z0-9_-]{1,40}$/, idsOnce: false, idPrefix: 'call_', idLength: 29 },
  ...{ names: /^[A-Za-z0-9_-]{1,64}$/, userFirst: false, systemFirst: false },
};

export const dialects: Record<DialectName, Dialect> = {
  // chat completions, and every provider that is not known
  openai: { ...common, name: 'openai' },
  responses: { ...common, name: 'responses', idsOnce: true },
  // its models call tools wrongly if earlier ids are not in their own format, as in functions.look:0
  kimi: { ...common, name: 'kimi', ids: /^[A-Za-z0-9_.:-]{1,64}$/ },
  mistral: {
    ...{ ...common, name: 'mistral', ids: /^[A-Za-z0-9]{9}$/, idsOnce: true, idPrefix: '', idLength: 9 },
    userFirst: true,
  },
  anthropic: { ...common, name: 'anthropic', idsOnce: true, userFirst: true },
  google: {
    ...{ ...common, name: 'google', names: /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/, idsOnce: true },
    ...{ userFirst: true, systemFirst: true },
  },
  // models of this process that refuse nothing
  verbatim: { ...common, name: 'verbatim' },
};

/**
 * The dialect of a model. Gateways and servers of open models are told apart by the name of the model.
 *
 * @param model `provider` is the AI SDK's name, such as `anthropic.messages`
 */
export function dialectOf({ provider, modelId }: Pick<LanguageModelV4, 'provider' | 'modelId'>): Dialect {
  if (provider === 'scripted' || provider === 'replay') return dialects.verbatim;
  const names = `${provider} ${modelId}`;
  for (const [name, pattern] of families) if (pattern.test(names)) return dialects[name];
  return dialects.openai;
}

const families: [DialectName, RegExp][] = [
  ['responses', /^\S+\.responses /],
  ['anthropic', /anthropic|bedrock|claude/i],
  ['google', /google|vertex|gemini/i],
  ['mistral', /(mi|minis|magis)tral|mixtral|pixtral|codestral|devstral/i],
  ['kimi', /kimi|moonshot/i],
];
