/** How many items of a variant a scorer scored, and how. */
export interface ScorerSummary {
  scorer: string;
  /** The mean of its scores; null if it gave none. */
  score: number | null;
  scored: number;
  /** Items to which it did not apply. */
  notApplicable: number;
  /** Items for which it failed. */
  errors: number;
}

/** All items of a variant together. */
export interface VariantSummary {
  variant: string;
  items: number;
  /** Items that count: those with a score, and failed runs, which score 0. */
  scored: number;
  /** Items whose score is at least 0.5. */
  passed: number;
  passRate: number | null;
  /** The mean score; null if no item counts. */
  score: number | null;
  scorers: ScorerSummary[];
  /** Runs that failed. */
  failures: number;
  /** Left out: the thread of the case was erased. */
  erased: number;
  /** Left out: the eval was cancelled, or its budget used up, before they had an answer. */
  skipped: number;
  /** Left out: the run ended, but no scorer gave a score. */
  unscored: number;
  /** Left out: not ended yet. */
  pending: number;
  /** Items whose run differed from the recorded one. */
  diverged: number;
  /** Items with an answer from an earlier eval. */
  reused: number;
  /** The sum of the known costs, in millionths of a US dollar; null if none is known. */
  costMicros: number | null;
  /** Ended items with an unknown cost. */
  unpriced: number;
  inputTokens: number;
  outputTokens: number;
  /** How many of both are estimates, because providers did not count them. */
  estimatedTokens: number;
  /** Half of the answers took at most this long; null if no duration is known. */
  p50Ms: number | null;
  p95Ms: number | null;
}

/** A mean difference, candidate minus baseline, and its 95 % interval; null if there are too few cases for one. */
export interface Difference {
  mean: number | null;
  low: number | null;
  high: number | null;
}

/**
 * `better` and `worse` if the interval of the difference excludes zero; `no_difference` if it includes zero, which does
 * not show that there is none; `too_few_cases` below 6 cases.
 */
export type Verdict = 'better' | 'worse' | 'no_difference' | 'too_few_cases';

/** One answer to a case. */
export interface ComparedAnswer {
  score: number;
  answer: string | null;
  /** The error of the run, or the limit that ended it, and what the scorers said. */
  reasons: string[];
}

/** A case under both variants. */
export interface CaseComparison {
  caseId: string;
  tags: string[];
  /** The repeats that both variants have. */
  repeats: number;
  /** The mean score over these repeats. */
  baseline: number;
  candidate: number;
  difference: number;
  /** The answers of the repeat in which the candidate lost most, or gained least. */
  repeat: number;
  baselineAnswer: ComparedAnswer;
  candidateAnswer: ComparedAnswer;
}

export interface Comparison {
  baseline: string;
  candidate: string;
  verdict: Verdict;
  /** Cases that both variants have, with at least one repeat that counts in both. */
  cases: number;
  /** Pairs of items: same case, same repeat. */
  pairs: number;
  /** Items that count but have no partner, and so are left out here. */
  unpaired: number;
  /** Both variants by the items that have a partner; only if some have none. */
  paired?: { baseline: VariantSummary; candidate: VariantSummary };
  /** Of the score: the mean over cases. */
  difference: Difference;
  passRateDifference: Difference;
  /** Cases in which the candidate scored higher, lower, and the same. */
  better: number;
  worse: number;
  same: number;
  byTag: TagComparison[];
  /** Worse ones first. */
  byCase: CaseComparison[];
}

/** The cases with a tag. */
export interface TagComparison {
  tag: string;
  verdict: Verdict;
  cases: number;
  difference: Difference;
  better: number;
  worse: number;
  same: number;
}

export interface EvalReport {
  /** Null if there is only one variant. */
  baseline: string | null;
  variants: VariantSummary[];
  /** The baseline with each other variant. */
  comparisons: Comparison[];
  /** The bootstrap's. The same items, seed and resamples give the same report. */
  seed: number;
  resamples: number;
}

export interface ReportOptions {
  /** The variant that the others are compared with; default: that of the first item. */
  baseline?: string;
  /** A whole number from 0 to 4,294,967,295; default 1. */
  seed?: number;
  /** From 100 to 100,000; default 2,000. */
  resamples?: number;
}
