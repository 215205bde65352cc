import { Released, type HeldRun } from '../run/held-run.ts';
import type { Intake } from './intake.ts';
import { after } from '../../base/common/timer.ts';

/**
 * The runs of a worker, from before their claim until they end. A run that shared every worker that crashed is retried
 * alone, with the worker to itself, before it counts as poisoned.
 */
export class Company {
  readonly #present = new Set<HeldRun>();
  #alone: HeldRun | undefined;
  #left: (() => void) | undefined;

  constructor(
    private readonly intake: Intake,
    /** How long the others may take to end before they are released for other workers. */
    private readonly patienceMs: number,
  ) {}

  /** Returns false while another run has the worker to itself or waits for that. */
  enter(run: HeldRun): boolean {
    if (this.#alone) return false;
    this.#present.add(run);
    return true;
  }

  /**
   * Stops taking runs and resolves to true once the other runs have left. Resolves to false if another run came first.
   */
  async clear(run: HeldRun): Promise<boolean> {
    if (this.#alone) return false;
    this.#alone = run;
    this.intake.hold();
    const patience = after(this.patienceMs, () => {
      for (const other of this.#present) if (other !== run) other.lose(new Released());
    });
    while (this.#present.size > 1) await new Promise<void>((resolve) => (this.#left = resolve));
    patience.cancel();
    return true;
  }

  /** Ends the run's exclusive use of the worker. */
  reopen(run: HeldRun): void {
    if (this.#alone !== run) return;
    this.#alone = undefined;
    this.intake.release();
  }

  leave(run: HeldRun): void {
    this.#present.delete(run);
    this.reopen(run);
    this.#left?.();
  }
}
