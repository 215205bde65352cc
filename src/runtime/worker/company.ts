import { HandedOver, type HeldRun } from '../run/held-run.ts';
import type { Intake } from './intake.ts';

/**
 * The runs of a worker, from before their claim to their end. One of them may have the worker to itself: a run that was in
 * company whenever its workers died is tried alone before it counts as the one that kills them.
 */
export class Company {
  readonly #present = new Set<HeldRun>();
  #alone: HeldRun | undefined;
  #left: (() => void) | undefined;

  constructor(
    private readonly intake: Intake,
    /** How long the others may take to end before they are handed over to other workers. */
    private readonly patienceMs: number,
  ) {}

  /** False while another run has the worker to itself, or waits for that. */
  enter(run: HeldRun): boolean {
    if (this.#alone) return false;
    this.#present.add(run);
    return true;
  }

  /** Stops taking runs and resolves once the others have left. False where another run is ahead with that. */
  async clear(run: HeldRun): Promise<boolean> {
    if (this.#alone) return false;
    this.#alone = run;
    this.intake.hold();
    const patience = setTimeout(() => {
      for (const other of this.#present) if (other !== run) other.lose(new HandedOver());
    }, this.patienceMs);
    while (this.#present.size > 1) await new Promise<void>((resolve) => (this.#left = resolve));
    clearTimeout(patience);
    return true;
  }

  /** The run needs the worker no longer to itself. */
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
