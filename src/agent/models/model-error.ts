import { redactSecrets } from '../../base/redaction/sensitive-keys.ts';
import { failureOf, type FailureKind } from './failure.ts';
import type { FallbackReason } from './fallback-reason.ts';

/**
 * Where a model call failed: in the context policy or the request transformer, before the answer started, while it
 * streamed, while it was parsed, or because the model fell silent; that the request was too long for the model; or which
 * limit kept it from being made.
 */
export type ModelErrorType =
  | 'context_policy'
  | 'request_transform'
  | 'llm_request'
  | 'llm_stream'
  | 'llm_response'
  | 'timeout'
  | 'context_too_long'
  | LimitError;

type LimitError = 'budget_exhausted' | 'limit_too_small' | 'price_unknown';

/**
 * A model call without a usable turn. `retryable` means that the same call may succeed later; `retryAfterMs` is the
 * wait the provider asked for. `message` is storable, at most 2,000 characters long and free of API keys.
 */
export class ModelError extends Error {
  readonly errorType: ModelErrorType;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  readonly statusCode?: number;
  /** Set on `context_too_long`. */
  readonly tooLong?: TooLong;
  /** A limit that was set for attempts has ended this one: another attempt costs little. */
  readonly early?: true;
  /** From which follows what retries, a chain of models and a circuit make of it. */
  readonly kind: FailureKind;
  /** Why a chain of models goes on; undefined: another model is not expected to spare it. */
  readonly reason?: FallbackReason;

  constructor(
    message: string,
    facts: {
      errorType: ModelErrorType;
      retryable: boolean;
      retryAfterMs?: number;
      statusCode?: number;
      tooLong?: TooLong;
      kind?: FailureKind;
      early?: true;
    },
  ) {
    super(redactSecrets(message));
    this.name = 'ModelError';
    this.errorType = facts.errorType;
    this.retryable = facts.retryable;
    if (facts.retryAfterMs !== undefined) this.retryAfterMs = facts.retryAfterMs;
    if (facts.statusCode !== undefined) this.statusCode = facts.statusCode;
    if (facts.tooLong !== undefined) this.tooLong = facts.tooLong;
    if (facts.early) this.early = true;
    this.kind = facts.kind ?? usualKind(facts);
    const { reason } = failureOf(this.kind);
    if (reason !== undefined) this.reason = reason;
  }
}

const ofProvider: ReadonlySet<ModelErrorType> = new Set(['llm_request', 'llm_stream', 'llm_response']);

/** Of an error that says no more. */
function usualKind({ errorType, retryable }: Pick<ModelError, 'errorType' | 'retryable'>): FailureKind {
  if (errorType === 'timeout') return 'silent';
  if (errorType === 'context_too_long') return 'tooLong';
  if (!retryable) return 'other';
  return ofProvider.has(errorType) ? 'connection' : 'ours';
}

/** What a provider says about a request that exceeds what its model takes, in its own tokens, as far as it says it. */
export interface TooLong {
  /** Tokens that the model takes. */
  window?: number;
  /** Tokens of the messages. */
  requested?: number;
  /** Tokens that it reserves for the answer. */
  answer?: number;
}

/** Error codes that say it. OpenAI and those who copy it; llama.cpp; Anthropic, by size in bytes. */
const codes = ['context_length_exceeded', 'exceed_context_size_error', 'request_too_large'];

/** Sentences that say it where no code does, lower case. */
const sentences: readonly RegExp[] = [
  /(?:maximum|model's) context length/, // OpenAI, Azure, vLLM, SGLang, DeepSeek, OpenRouter, Mistral
  /reduce the length of the messages/, // Groq, OpenAI
  /prompt is too long/, // Anthropic, Bedrock, Fireworks
  /exceed(?:s|ed)? (?:the |model |available |maximum |the available |the maximum )?context (?:window|length|limit|size)/, // OpenAI Responses, llama.cpp, llama-cpp-python, Ollama, Anthropic
  /context (?:window|length) exceed(?:s|ed)/, // MiniMax, Together
  /input token count[^.]{0,40} exceeds/, // Google
  /prompt token count[^.]{0,40} exceeds/, // GitHub Models
  /maximum prompt length/, // xAI
  /(?:longer|greater) than the (?:model's |maximum )?(?:context|model) length/, // SGLang, vLLM, LM Studio
  /context length of only/, // LM Studio
  /input is too long for requested model/, // Bedrock
  /too many (?:input )?tokens: |too many input tokens/, // Cohere, Bedrock
  /exceeded model token limit/, // Moonshot
  /tokens \+ `max_new_tokens` must be|inputs` must have less than/, // Text Generation Inference, Together
  /max_tokens must be at least 1, got -/, // vLLM, when the prompt alone fills the window
];

const windows: readonly RegExp[] = [
  /"n_ctx": ?\(?([\d,]{1,12})\)?/,
  /(?:context|prompt|model) length (?:is|of) (?:only )?\(?([\d,]{1,12})\)?/,
  /tokens > \(?([\d,]{1,12})\)? maximum/,
  /number of tokens allowed \(?([\d,]{1,12})\)?/,
  /\(?([\d,]{1,12})\)? maximum context length/,
  /context length \(?([\d,]{1,12})\)?/,
  /context window of \(?([\d,]{1,12})\)?/,
  /context size \(?([\d,]{1,12})\)?/,
  /exceeds the limit of \(?([\d,]{1,12})\)?/,
  /token limit: \(?([\d,]{1,12})\)?/,
  /must be <= \(?([\d,]{1,12})\)?/,
  /must have less than \(?([\d,]{1,12})\)?/,
  /max input tokens: \(?([\d,]{1,12})\)?/,
  /cannot exceed \(?([\d,]{1,12})\)?/,
  / > \(?([\d,]{1,12})\)?, decrease/,
  /limit \(?([\d,]{1,12})\)?, requested/,
];

const requests: readonly RegExp[] = [
  /"n_prompt_tokens": ?\(?([\d,]{1,12})\)?/,
  /\(?([\d,]{1,12})\)? (?:in|of) (?:the |your )?(?:messages|prompt|text input|input)/,
  /too long: \(?([\d,]{1,12})\)? tokens/,
  /resulted in (?:over )?\(?([\d,]{1,12})\)? tokens/,
  /(?:has|contains?) \(?([\d,]{1,12})\)? (?:input )?tokens/,
  /token count:? (?:of )?\(?([\d,]{1,12})\)?/,
  /(?:input|request|requested tokens) \(?([\d,]{1,12})\)?(?: tokens)?/,
  /prompt \(length \(?([\d,]{1,12})\)?/,
  /given: \(?([\d,]{1,12})\)?/,
  /limit: \(?([\d,]{1,12})\)? \+/,
  /received \(?([\d,]{1,12})\)?/,
  /requested:? (?:about |a total of )?\(?([\d,]{1,12})\)?/,
];

const answers: readonly RegExp[] = [
  /\(?([\d,]{1,12})\)? (?:in|of|for) (?:the )?(?:completion|output)/,
  /limit: [\d,]{1,12} \+ \(?([\d,]{1,12})\)?/,
];

/** Refusals for other reasons, even if they mention tokens: keys, payment, models, rates, servers that are down. */
const otherStatus = new Set([401, 402, 403, 404, 408, 409, 429, 502, 503, 504]);

/** Long enough for every message; longer ones repeat the request. */
const maxLength = 4_000;

/**
 * Whether a provider refused a request because it is too long for its model, and what it says about that; undefined: it
 * has another reason.
 *
 * @param words codes and types of the error
 * @param text its message and its body
 */
export function tooLong(status: number | undefined, words: string, text: string): TooLong | undefined {
  const said = text.slice(0, maxLength).toLowerCase();
  const coded = codes.some((code) => words.includes(code) || said.includes(`"${code}"`));
  if (!coded && status !== 413) {
    if (otherStatus.has(status!) || !sentences.some((sentence) => sentence.test(said))) return undefined;
  }
  const found: TooLong = {};
  for (const [fact, any] of Object.entries({ window: windows, requested: requests, answer: answers })) {
    const tokens = firstNumber(any, said);
    if (tokens !== undefined) found[fact as keyof TooLong] = tokens;
  }
  return found;
}

function firstNumber(any: readonly RegExp[], text: string): number | undefined {
  for (const pattern of any) {
    const found = Number(pattern.exec(text)?.[1]?.replaceAll(',', ''));
    if (Number.isSafeInteger(found) && found > 0) return found;
  }
  return undefined;
}
