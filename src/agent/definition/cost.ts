/** In US dollars; more than any run can spend. */
export const maxCostLimit = 1_000_000;

/** Whether a run may be limited to this many US dollars. */
export const isCost = (value: unknown): value is number =>
  typeof value === 'number' && value > 0 && value <= maxCostLimit;

export const noCost = 'must be US dollars, more than 0 and at most 1,000,000';
