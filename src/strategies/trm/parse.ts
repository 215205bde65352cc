/** The assessment of an answer. */
export interface Supervision {
  /** 0 to 1: the written score, else an estimate from the numbers of strengths and issues. */
  score: number;
  issues: string[];
  /** The most promising suggestion first. */
  suggestions: string[];
}

// Match whole words: "incorrect" is not a strength. Require a colon, which ordinary prose does not have after them.
const score = /(?<![\p{L}\p{N}_])score(?![\p{L}\p{N}_])/giu;
const number = /^[\s*:：=]{0,20}(\d+(?:\.\d+)?)/u;
const marked = /^[-*•\s]*(\p{L}+)\**[:：]\**/u;

const strengthWords = new Set(['strength', 'strengths', 'correct', 'good', 'clear', 'complete', 'well']);
const issueWords = new Set(['issue', 'issues', 'problem', 'error', 'incorrect', 'missing', 'unclear', 'weakness']);
const suggestionWords = new Set(['suggestion', 'suggestions', 'improve', 'fix']);

export function parseSupervision(text: string): Supervision {
  const strengths = new Set<string>();
  const issues = new Set<string>();
  const suggestions = new Set<string>();
  for (const line of text.split('\n')) {
    const trimmed = line.trim();
    const found = marked.exec(trimmed);
    const content = found && trimmed.slice(found[0].length).trim();
    if (!content) continue;
    const word = found[1]!.toLowerCase();
    if (strengthWords.has(word)) strengths.add(content);
    else if (issueWords.has(word)) issues.add(content);
    else if (suggestionWords.has(word)) suggestions.add(content);
  }
  return {
    score: writtenScore(text) ?? estimatedScore(strengths.size, issues.size),
    issues: [...issues],
    suggestions: [...suggestions].sort((a, b) => impact(b) - impact(a)),
  };
}

function writtenScore(text: string): number | undefined {
  for (const { index } of text.matchAll(score)) {
    const found = number.exec(text.slice(index + 'score'.length, index + 60));
    if (found) return Math.min(Number(found[1]), 1);
  }
  return undefined;
}

function estimatedScore(strengths: number, issues: number): number {
  if (strengths === 0 && issues === 0) return 0.5;
  if (strengths > 2 * issues) return 0.8;
  if (strengths > issues) return 0.65;
  if (issues > 2 * strengths) return 0.3;
  return issues > strengths ? 0.45 : 0.5;
}

const urgent = /(?<!\p{L})(?:critical|must|major|wrong|essential|important)(?!\p{L})/iu;
const impact = (suggestion: string): number => (urgent.test(suggestion) ? 2 : suggestion.length > 100 ? 1 : 0);
