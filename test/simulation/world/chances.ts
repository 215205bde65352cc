import { randomOf, type Random } from '../../../src/ops/chaos/schedule.ts';

/**
 * What the seed decides. Each decision has a name and depends on nothing but seed and name, so that a history without
 * some of its faults and calls has the others unchanged.
 */
export class Chances {
  /** What happened, by name: faults, and what clients did. */
  readonly happened = new Map<string, string>();
  /** From now on there are no faults. */
  calm = false;

  /** @param only names of the faults and calls that may happen; default: all */
  constructor(
    readonly seed: number,
    private readonly only?: ReadonlySet<string>,
  ) {}

  of(name: string): Random {
    return randomOf(this.seed, name);
  }

  /** Whether something that can be left out happens. */
  happens(name: string, what: string): boolean {
    if (this.only && !this.only.has(name)) return false;
    this.happened.set(name, what);
    return true;
  }

  /** Picks a fault by its share of cases; undefined: all goes well. */
  fault<Kind extends string>(name: string, shares: Partial<Record<Kind, number>>): Kind | undefined {
    if (this.calm) return undefined;
    let rest = this.of(name).next();
    for (const [kind, share] of Object.entries(shares) as [Kind, number][]) {
      rest -= share * this.#weight(kind);
      if (rest < 0) return this.happens(name, kind) ? kind : undefined;
    }
    return undefined;
  }

  /** Seeds differ in which faults are frequent: together they would mask one another. */
  #weight(kind: string): number {
    return this.of(`how often ${kind}`).pick([0, 1, 1, 4]);
  }
}
