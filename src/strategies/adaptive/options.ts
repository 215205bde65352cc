import { z } from 'zod';

export const adaptiveOptions = z.strictObject({
  /** The strategies it may choose. `aot` has to be named. */
  available: z.array(z.string()).max(100).default(['cod', 'cot', 'react', 'tot', 'got', 'trm']),
  /** Below this score a question counts as simple, above the other one as complex. */
  simple_threshold: z.number().min(0).max(1).default(0.3),
  complex_threshold: z.number().min(0).max(1).default(0.7),
  /** Chooses this strategy for every question. */
  strategy: z.string().optional(),
  /** Options for the strategies it may choose, by their names. */
  options: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
});

export type AdaptiveOptions = z.output<typeof adaptiveOptions>;
