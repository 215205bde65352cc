import type { Servers } from '../setup.ts';
import { cost } from './cost.ts';
import { fairness } from './fairness.ts';
import { killed } from './killed.ts';
import { provider } from './provider.ts';
import { waits } from './waits.ts';

const parts: Record<string, (servers: Servers) => Promise<void>> = { cost, waits, fairness, provider, killed };

/** Measures what limits cost, and whether they hold. */
export async function limits(servers: Servers, part?: string): Promise<void> {
  if (part !== undefined && !(part in parts)) {
    throw new Error(`Part "${part}" of limits does not exist; choose from ${Object.keys(parts).join(', ')}.`);
  }
  for (const [name, measure] of Object.entries(parts)) if (name === (part ?? name)) await measure(servers);
}
