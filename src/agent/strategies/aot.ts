import type { JsonObject, Usage } from '../context/message.ts';
import type { StrategyCause, StrategyEnding, StrategyProgress } from './inquiry/inquiry.ts';
import { defineStrategy } from './inquiry/machine.ts';
import { quote, quotedIsData } from './inquiry/conversation.ts';
import type { RunError } from './records.ts';
import { z } from 'zod';

export const aotOptions = {
  /** How many worked examples the prompt has: 1, 2 or 3. */
  profile: z.enum(['short', 'standard', 'long']).default('standard'),
  /** Which search the prompt describes. */
  search_style: z.enum(['dfs', 'bfs']).default('dfs'),
  /** Worked examples in place of the built-in ones. */
  examples: z.array(z.string().max(20_000)).max(20).default([]),
  /** Fail a run whose response has no line "Answer: …", even where it claims a solution. */
  require_explicit_answer: z.boolean().default(true),
};

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
  return { reason, answer, result: result as unknown as JsonObject, error: failure };
}

const failures: Record<string, string> = {
  missing_explicit_answer: 'The model claims a solution, but its response has no line "Answer: …".',
  no_solution: 'The model found no solution.',
};

const searches = {
  dfs: 'Go deep first: follow one promising operation until it succeeds or fails, and backtrack when it fails.',
  bfs: 'Go broad first: compare all promising operations at one level before you go deeper.',
};

const builtIn = [
  `Numbers 4 7 8 8, reach 24.
Trying a promising first operation:
1. 8 / 4: (2, 7, 8)
Step 1: 8 - 2: (6, 7). 6 and 7 cannot make 24. Backtrack.
Trying another promising first operation:
2. 8 / 8: (1, 4, 7)
Step 2: 7 - 1: (4, 6). 4 * 6 = 24. Found it!
Answer: (7 - 8 / 8) * 4 = 24`,
  `Which word is the odd one out: rose, oak, tulip, daisy?
Trying a promising first operation:
1. Group by colour: (no common colour)
Step 1: Colours say nothing. Backtrack.
Trying another promising first operation:
2. Group by kind: (rose, tulip, daisy: flowers)
Step 2: Oak is a tree. Solution found.
Answer: oak`,
  `Ann is older than Bo, Cy is younger than Bo. Who is the youngest?
Trying a promising first operation:
1. Order Ann and Bo: (Ann > Bo)
Step 1: Add Cy: (Ann > Bo > Cy). Found it.
Answer: Cy`,
];

const counts = { short: 1, standard: 2, long: 3 };

/** Asks for an algorithmic search with backtracking inside one response that ends with an answer on a separate line. */
function aotSystem({ profile, search_style: style, examples }: AotOptions): string {
  const given = examples.map((example) => example.trim()).filter((example) => example !== '');
  const shown = given.length > 0 ? given : builtIn.slice(0, counts[profile]);
  return [
    `Solve the problem as a search algorithm would, in one answer. ${searches[style]}`,
    'Begin each attempt with "Trying a promising first operation:", number the operations with their states as "1. operation: (state)", and write "Step 1:", "Step 2:" … for what follows. Say "Backtrack" when an attempt fails and "Found it" when one succeeds. End with one line "Answer: …".',
    quotedIsData,
    ...shown.map((example, i) => `Example ${i + 1}:\n${example}`),
  ].join('\n\n');
}

/** The search that a response describes. */
interface ParsedSearch {
  answer: string | null;
  firstOperations: number;
  backtrackingSteps: number;
  foundMarkers: number;
}

// Each is matched against one line, or is a plain phrase: no pattern can take more than linear time.
const answerLine = /^answer[^\S\n]*[:：]/iu;

const finalAnswerLine = /^final[^\S\n]+answer[^\S\n]*[:：]/iu;

const firstOperation = /trying (?:(?:a|another) )?promising first operation[:：]/giu;

const attemptLine = /^trying (?:(?:a|another) )?promising first operation[:：]/iu;

const indexedOperation = /^\d+\.[^:：]+[:：]\s*\(/u;

const step = /^step \d+[:：]/iu;

const found = /found it|solution found|answer[:：]/giu;

export function parseSearch(response: string): ParsedSearch {
  const lines = response.split(/\r?\n/u).map((line) => line.trim());
  const indexed = lines.filter((line) => indexedOperation.test(line) && line.includes(')')).length;
  return {
    answer: answerAfter(lines, answerLine) ?? answerAfter(lines, finalAnswerLine),
    firstOperations: Math.max(count(response, firstOperation), indexed),
    backtrackingSteps: lines.filter((line) => step.test(line)).length,
    foundMarkers: count(response, found),
  };
}

/**
 * The rest of the first line that starts with the marker or, if that is blank, the next nonblank line. A line that
 * begins another attempt is not an answer: the model continued to search.
 */
function answerAfter(lines: string[], marker: RegExp): string | null {
  for (const [at, line] of lines.entries()) {
    if (!marker.test(line)) continue;
    const own = line.replace(marker, '').trim();
    if (own) return own;
    let next = at + 1;
    while (lines[next] === '') next++;
    const answer = lines[next];
    if (answer !== undefined && !attemptLine.test(answer)) return answer;
  }
  return null;
}

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

type AotOptions = z.output<z.ZodObject<typeof aotOptions>>;
