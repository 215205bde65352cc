/** The default intervals of a worker multiplied by `scale`, in milliseconds. */
export const scaled = (scale: number) => ({
  leaseMs: Math.round(6_000 * scale),
  sweepMs: Math.round(2_000 * scale),
  cancelGraceMs: Math.round(5_000 * scale),
});
