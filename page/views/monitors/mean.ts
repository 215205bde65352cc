/** A mean of scores, and where it lies in 95 of 100 samples. */
export interface Mean {
  mean: number;
  runs: number;
  /** Absent with too few scores, or if all are the same: an interval of no width would look like certainty. */
  interval?: [low: number, high: number];
}

/** As in evals: of fewer scores, an interval would say too much. */
const fewest = 6;
const normal95 = 1.96;
const epsilon = 1e-9;

/** The mean of scores from 0 to 1; undefined without any. */
export function meanOf(scores: number[]): Mean | undefined {
  const runs = scores.length;
  if (runs === 0) return undefined;
  const mean = scores.reduce((sum, score) => sum + score, 0) / runs;
  if (runs < fewest) return { mean, runs };
  const variance = scores.reduce((sum, score) => sum + (score - mean) ** 2, 0) / (runs - 1);
  const off = normal95 * Math.sqrt(variance / runs);
  if (off < epsilon) return { mean, runs };
  return { mean, runs, interval: [Math.max(0, mean - off), Math.min(1, mean + off)] };
}
