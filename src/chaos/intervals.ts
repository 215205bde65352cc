/** The intervals of a worker by its own defaults, times `scale`; in milliseconds. */
export const scaled = (scale: number) => ({
  leaseMs: Math.round(6_000 * scale),
  sweepMs: Math.round(2_000 * scale),
  cancelGraceMs: Math.round(5_000 * scale),
});
