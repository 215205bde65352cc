/** A metric of a variant, or of its comparison with the baseline (`difference`); `score.<scorer>` is one scorer's mean. */
export type MetricName =
  | 'pass_rate'
  | 'score'
  | 'cost'
  | 'p50_ms'
  | 'p95_ms'
  | 'failures'
  | 'unscored'
  | 'difference'
  | 'difference.low'
  | 'difference.high'
  | `score.${string}`;

export type Comparator = '<' | '<=' | '>' | '>=';

/** What a metric is compared with: a number, or a metric of the baseline plus an offset. */
export type Operand = { number: number } | { baseline: MetricName; offset: number };

/** `pass_rate < baseline - 0.02`. */
export interface MetricTest {
  metric: MetricName;
  op: Comparator;
  operand: Operand;
}

/** The outer list is joined by `or`, each inner one by `and`. */
export type Condition = MetricTest[][];

/** Whether a report meets a condition. */
export interface ConditionResult {
  /** True if a variant meets the condition, or if it cannot be decided because a metric has no value. */
  failed: boolean;
  /** What led to it, as sentences; empty if `failed` is false. */
  reasons: string[];
}

/** The metrics that already compare with the baseline, which itself has none of them. */
export const isDifference = (metric: MetricName): boolean => metric.startsWith('difference');
