/** How far the heuristic is off for a model, compared with what its provider counted. */
export interface Calibrated {
  /** Tokens the provider counts per token of the heuristic; 1 before the first call. */
  ratio: number;
  /** Mean difference between the calibrated estimate and the count of the provider, as a share of that count. */
  error: number;
  /** Number of calls it was learnt from. */
  calls: number;
}

const uncalibrated: Calibrated = { ratio: 1, error: 0, calls: 0 };

/** Weight of a new call against what was learnt before. */
const weight = 0.2;
/** A ratio outside this range says more about the report than about the text. */
const [least, most] = [0.2, 5];
/** Model ids may be inline scripts, so their number is unbounded. */
const maxModels = 1_000;

/** Learns a correction per model from the tokens that providers report. Lives as long as its process. */
export class Calibration {
  readonly #models = new Map<string, Calibrated>();

  of(model: string): Calibrated {
    return this.#models.get(model) ?? uncalibrated;
  }

  /**
   * @param estimated tokens of the whole request by the heuristic
   * @param reported input tokens by the provider; 0 if it did not count
   */
  observe(model: string, estimated: number, reported: number): void {
    const ratio = reported / estimated;
    if (!(ratio >= least && ratio <= most)) return;
    const before = this.of(model);
    const error = Math.abs(estimated * before.ratio - reported) / reported;
    const share = before.calls === 0 ? 1 : weight;
    if (!this.#models.has(model) && this.#models.size >= maxModels) this.#models.clear();
    this.#models.set(model, {
      ratio: before.ratio + (ratio - before.ratio) * share,
      error: before.calls === 0 ? error : before.error + (error - before.error) * weight,
      calls: before.calls + 1,
    });
  }
}
