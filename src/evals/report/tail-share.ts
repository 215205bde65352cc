/** The 97.5 % quantile of the normal distribution. */
const z = 1.959963984540054;

/**
 * The share of the resampled means that a 95 % interval leaves out at each end: 2.5 % for many cases, less for few,
 * because the means of few values vary less than they should. This is the expanded percentile interval of T. Hesterberg,
 * "What Teachers Should Know about the Bootstrap" (2015), section 4.2. BCa corrects skewness, which differences hardly
 * have, but not this.
 */
export const tailShare = (cases: number): number =>
  normalBelow(-Math.sqrt(cases / (cases - 1)) * studentQuantile(cases - 1));

/** The 97.5 % quantile of Student's t, by its expansion in 1/df (Abramowitz and Stegun, 26.7.5); within 0.003 from df 5 on. */
function studentQuantile(df: number): number {
  const terms = [
    z,
    (z ** 3 + z) / 4,
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96,
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384,
    (79 * z ** 9 + 776 * z ** 7 + 1482 * z ** 5 - 1920 * z ** 3 - 945 * z) / 92_160,
  ];
  return terms.reduce((sum, term, power) => sum + term / df ** power, 0);
}

/** The share of the normal distribution below a negative value, within 1e-7 (Abramowitz and Stegun, 26.2.17). */
function normalBelow(x: number): number {
  const t = 1 / (1 - 0.2316419 * x);
  const series = [0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429];
  const sum = series.reduce((total, factor, i) => total + factor * t ** (i + 1), 0);
  return (Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI)) * sum;
}
