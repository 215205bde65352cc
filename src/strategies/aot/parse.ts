/** What a response says about the search in it. */
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

/** The rest of the first line that starts with the marker; where that is blank, the next line that is not. */
function answerAfter(lines: string[], marker: RegExp): string | null {
  const at = lines.findIndex((line) => marker.test(line));
  if (at < 0) return null;
  const own = lines[at]!.replace(marker, '').trim();
  return own || (lines.slice(at + 1).find((line) => line !== '') ?? null);
}

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;
