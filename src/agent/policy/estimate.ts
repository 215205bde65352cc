import type { Message, ContentPart } from '../context/message.ts';
import { orLate } from '../../base/common/timer.ts';

/** Counts the tokens of a message for a model, `provider:model`. */
export type TokenEstimator = (message: Message, model: string) => number | Promise<number>;

interface Estimate {
  tokens: number[];
  /**
   * Set if the estimator threw, returned something other than numbers or took too long: the heuristic counted all
   * messages.
   */
  fallback?: { mark: 'estimator_failed' | 'estimator_slow'; message: string };
}

/**
 * Tokens of messages by an estimator, or by the heuristic if it fails or takes longer than `timeoutMs`. Never rejects.
 */
export async function estimate(
  messages: readonly Message[],
  estimator: TokenEstimator,
  model: string,
  timeoutMs = 2_000,
): Promise<Estimate> {
  const tokens: number[] = [];
  const until = performance.now() + timeoutMs;
  try {
    for (const message of messages) {
      const counted = estimator(message, model);
      const count = typeof counted === 'number' ? counted : await before(until, counted);
      if (!Number.isFinite(count) || count < 0) throw new Error(`It returned ${String(count)}.`);
      tokens.push(count);
      if (performance.now() > until) throw new Slow();
    }
    return { tokens };
  } catch (error) {
    const mark = error instanceof Slow ? 'estimator_slow' : 'estimator_failed';
    const message = error instanceof Error ? error.message : String(error);
    return { tokens: messages.map((message) => heuristicTokens(message)), fallback: { mark, message } };
  }
}

class Slow extends Error {
  constructor() {
    super('It took too long.');
  }
}

const before = <T>(until: number, counted: Promise<T>): Promise<T> =>
  orLate(Math.max(until - performance.now(), 1), Promise.resolve(counted), () => {
    throw new Slow();
  });

/** Counts the tokens of a file part. */
export type FileTokens = (part: ContentPart) => number;

const perMessage = 10;
/** Tokens of a file without a formula: about an image at the size that providers scale it down to; rarely fewer. */
export const tokensOfAnyFile = 1_600;

const anyFile: FileTokens = () => tokensOfAnyFile;

const bytes = (text: string): number => Buffer.byteLength(text, 'utf8');
const jsonBytes = (value: unknown): number => (value == null ? 0 : bytes(JSON.stringify(value)));

/**
 * Estimates the tokens of a message without a tokenizer: a quarter of its UTF-8 bytes, with arguments as compact JSON,
 * plus 10 for each tool call, or 10 for a message without any. Accurate to about a third for English; `calibrated`
 * corrects it.
 *
 * @param fileTokens tokens of each file; default 1,600
 */
export function heuristicTokens(message: Message, fileTokens: FileTokens = anyFile): number {
  const { content, tool_calls: calls = [] } = message;
  let size = typeof content === 'string' ? bytes(content) : 0;
  let files = 0;
  if (typeof content !== 'string') {
    for (const part of content) {
      if (part.type === 'file') files += fileTokens(part);
      else size += textBytes(part);
    }
  }
  for (const call of calls) size += jsonBytes(call.arguments);
  if (message.reasoning_details != null) size += jsonBytes(message.reasoning_details);
  else if (message.thinking) size += bytes(message.thinking);
  return Math.floor(size / 4) + perMessage * Math.max(1, calls.length) + files;
}

const textBytes = (part: ContentPart): number =>
  part.type === 'text' && typeof part.text === 'string' ? bytes(part.text) : jsonBytes(part);

/** Estimates the tokens of the tools offered with a request, by the same rule. */
export const toolTokens = (tools: readonly object[]): number =>
  tools.reduce((sum, tool) => sum + Math.floor(jsonBytes(tool) / 4) + perMessage, 0);

/** How far the heuristic is off for a model, compared with what its provider counted. */
export interface Calibrated {
  /** Tokens the provider counts per token of the heuristic; 1 before the first call. */
  ratio: number;
  /** Mean difference between the calibrated estimate and the count of the provider, as a share of that count. */
  error: number;
  /** Number of calls it was learnt from. */
  calls: number;
}

const uncalibrated: Calibrated = { ratio: 1, error: 0, calls: 0 };

/** Weight of a new call against what was learnt before. */
const weight = 0.2;
/** A ratio outside this range says more about the report than about the text. */
const [least, most] = [0.2, 5];
/** Model ids may be inline scripts, so their number is unbounded. */
const maxModels = 1_000;

/** Learns a correction per model from the tokens that providers report. Lives as long as its process. */
export class Calibration {
  readonly #models = new Map<string, Calibrated>();

  of(model: string): Calibrated {
    return this.#models.get(model) ?? uncalibrated;
  }

  /**
   * @param estimated tokens of the whole request by the heuristic
   * @param reported input tokens by the provider; 0 if it did not count
   */
  observe(model: string, estimated: number, reported: number): void {
    const ratio = reported / estimated;
    if (!(ratio >= least && ratio <= most)) return;
    const before = this.of(model);
    const error = Math.abs(estimated * before.ratio - reported) / reported;
    const share = before.calls === 0 ? 1 : weight;
    if (!this.#models.has(model) && this.#models.size >= maxModels) this.#models.clear();
    this.#models.set(model, {
      ratio: before.ratio + (ratio - before.ratio) * share,
      error: before.calls === 0 ? error : before.error + (error - before.error) * weight,
      calls: before.calls + 1,
    });
  }
}
