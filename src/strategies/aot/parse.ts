/** The search that a response describes. */
export interface ParsedSearch {
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
 * begins another attempt is not an answer: the model went on searching.
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
