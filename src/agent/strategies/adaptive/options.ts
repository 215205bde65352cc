import { z } from 'zod';

export const adaptiveOptions = z.strictObject({
  /** The strategies it may choose from. `aot` is not included by default. */
  available: z.array(z.string()).max(100).default(['cod', 'cot', 'react', 'tot', 'got', 'trm']),
  /** A question scoring below this counts as simple; one scoring above `complex_threshold` counts as complex. */
  simple_threshold: z.number().min(0).max(1).default(0.3),
  complex_threshold: z.number().min(0).max(1).default(0.7),
  /** Chooses this strategy for every question. */
  strategy: z.string().optional(),
  /** Options for the strategies it may choose, by their names. */
  options: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
});

export type AdaptiveOptions = z.output<typeof adaptiveOptions>;
