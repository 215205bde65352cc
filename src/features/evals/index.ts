/**
 * Scorers of answers, and reports that compare variants of an agent. Pure: it needs no database.
 *
 * @module evals
 */

export type { EvalItem, EvalItemStatus, Score } from './store/types.ts';
export type { Expected } from './types.ts';

// Scorers
export { defineScorer } from './scorers/scorer.ts';
export { builtInScorers } from './scorers/built-in.ts';
export { judgeOutput, judgePrompt, readJudgement } from './scorers/judge.ts';
export { scoreAnswer } from './scorers/score-answer.ts';
export type {
  ScoredCase,
  Opinion,
  ScoredRun,
  Scorer,
  ScorerDefinition,
  ScorerInput,
  ScorerResult,
  ScoreValue,
} from './scorers/scorer.ts';

// Reports
export { reportOf } from './report/report-of.ts';
export { compareVariants, type CompareOptions } from './report/compare.ts';
export { toMarkdown, type MarkdownOptions } from './report/markdown.ts';
export { toJson } from './report/to-json.ts';
export { toJUnit } from './report/junit.ts';
export type {
  CaseComparison,
  ComparedAnswer,
  Comparison,
  Difference,
  EvalReport,
  ReportOptions,
  ScorerSummary,
  TagComparison,
  VariantSummary,
  Verdict,
} from './report/report.ts';

// Conditions that fail a build
export { failIf } from './condition/fail-if.ts';
export { parseCondition } from './condition/parse.ts';
export { printCondition } from './condition/parse.ts';
export type { Comparator, Condition, ConditionResult, MetricName, MetricTest, Operand } from './condition/parse.ts';
