/** The fields of a report that the page shows. Scores and rates are 0 to 1, differences candidate minus baseline. */
export interface Report {
  baseline: string | null;
  variants: VariantResult[];
  comparisons: Comparison[];
}

export interface VariantResult {
  variant: string;
  items: number;
  scored: number;
  passed: number;
  score: number | null;
  scorers: { scorer: string; score: number | null; errors: number }[];
  failures: number;
  erased: number;
  unscored: number;
  pending: number;
  reused: number;
  cost_micros: number | null;
  unpriced: number;
  p50_ms: number | null;
  p95_ms: number | null;
}

export interface Comparison {
  baseline: string;
  candidate: string;
  verdict: 'better' | 'worse' | 'no_difference' | 'too_few_cases';
  cases: number;
  unpaired: number;
  difference: { mean: number | null; low: number | null; high: number | null };
  better: number;
  worse: number;
  same: number;
  by_tag: ComparedPart[];
  /** The cases that lost most come first. */
  by_case: ComparedCase[];
}

/** The cases with a tag, or of a part of the dataset. */
export interface ComparedPart {
  tag: string;
  cases: number;
  difference: { mean: number | null };
  worse: number;
}

export interface ComparedCase {
  case_id: string;
  tags: string[];
  baseline: number;
  candidate: number;
  difference: number;
  baseline_answer: ComparedAnswer;
  candidate_answer: ComparedAnswer;
}

export interface ComparedAnswer {
  answer: string | null;
  /** The error of the run, and what the scorers said. */
  reasons: string[];
}

/** A case under every variant; `compared` has a place for each comparison, empty if the case does not count in it. */
export interface GridRow {
  caseId: string;
  tags: string[];
  compared: (ComparedCase | undefined)[];
  /** The comparison in which the case lost most. */
  worst: ComparedCase;
}

/** The cases of all comparisons: those that lost most under any variant come first. */
export function gridRows(comparisons: Comparison[]): GridRow[] {
  const rows = new Map<string, GridRow>();
  for (const [at, { by_case: cases }] of comparisons.entries())
    for (const one of cases) {
      const { case_id: caseId, tags } = one;
      const row = rows.get(caseId) ?? { caseId, tags, compared: comparisons.map(() => undefined), worst: one };
      row.compared[at] = one;
      if (one.difference < row.worst.difference) row.worst = one;
      rows.set(caseId, row);
    }
  return [...rows.values()].sort((a, b) => a.worst.difference - b.worst.difference);
}
