import type { JsonObject, Usage } from '../../context/message.ts';
import type { StrategyCause, StrategyEnding, StrategyProgress } from '../inquiry/inquiry.ts';
import { defineStrategy } from '../inquiry/machine.ts';
import { quote } from '../inquiry/quote.ts';
import type { RunError } from '../run-error.ts';
import { aotOptions, type AotOptions } from './options.ts';
import { parseSearch } from './parse.ts';
import { aotSystem } from './prompt.ts';

/** The result of a run with Algorithm of Thoughts. */
export interface AotResult {
  answer: string | null;
  found_solution: boolean;
  /** First operations tried, counted by the headings and numbering in the response. */
  first_operations_considered: number;
  /** Lines that begin with "Step N:". */
  backtracking_steps: number;
  raw_response: string;
  usage: Usage;
  termination: { reason: string; status: 'completed' | 'error'; duration_ms: number };
  diagnostics: {
    explicit_answer_required: boolean;
    explicit_answer_found: boolean;
    /** A solution was claimed, but no line gives the answer. */
    non_finalization_detected: boolean;
    found_markers: number;
    parser_mode: 'regex';
    error?: RunError;
  };
}

/** Algorithm of Thoughts: a search with backtracking inside one model call. The result is parsed from its text. */
export const aot = defineStrategy<AotOptions, typeof aotOptions>({
  name: 'aot',
  options: aotOptions,
  begin: (question, options) => ({
    memory: options,
    questions: [
      {
        purpose: 'search',
        system: aotSystem(options),
        prompt: quote('question', question),
        settings: { temperature: 0, max_output_tokens: 2048 },
      },
    ],
  }),
  learn(options, [answer], at) {
    return { memory: options, end: toEnding(options, answer!.text.trim(), at) };
  },
  best: (options, cause, at) => toEnding(options, '', at, cause),
});

function toEnding(options: AotOptions, response: string, at: StrategyProgress, cause?: StrategyCause): StrategyEnding {
  const { answer, firstOperations, backtrackingSteps, foundMarkers } = parseSearch(response);
  const found = foundMarkers > 0 || answer !== null;
  const success = options.require_explicit_answer ? answer !== null : found;
  const reason = cause?.reason ?? (success ? 'success' : found ? 'missing_explicit_answer' : 'no_solution');
  const failure = cause ? cause.error : success ? undefined : { type: reason, message: failures[reason]! };
  const result: AotResult = {
    answer,
    found_solution: found,
    first_operations_considered: firstOperations,
    backtracking_steps: backtrackingSteps,
    raw_response: response,
    usage: at.usage,
    termination: { reason, status: failure ? 'error' : 'completed', duration_ms: at.elapsedMs },
    diagnostics: {
      explicit_answer_required: options.require_explicit_answer,
      explicit_answer_found: answer !== null,
      non_finalization_detected: found && answer === null,
      found_markers: foundMarkers,
      parser_mode: 'regex',
      ...(cause?.error ? { error: cause.error } : {}),
    },
  };
  return { reason, answer, result: result as unknown as JsonObject, ...(failure ? { error: failure } : {}) };
}

const failures: Record<string, string> = {
  missing_explicit_answer: 'The model claims a solution, but its response has no line "Answer: …".',
  no_solution: 'The model found no solution.',
};
