import type { Servers } from '../setup.ts';
import { firstCall } from './first-call.ts';
import { largeContexts } from './large-contexts.ts';
import { manyStreams } from './streams.ts';

const parts: Record<string, (servers: Servers) => Promise<void>> = {
  'first-call': firstCall,
  'large-contexts': largeContexts,
  streams: manyStreams,
};

/** Measures the slowest runs and events rather than the typical ones. */
export async function tails(servers: Servers, part?: string): Promise<void> {
  if (part !== undefined && !(part in parts)) {
    throw new Error(`Part "${part}" of tails does not exist; choose from ${Object.keys(parts).join(', ')}.`);
  }
  for (const [name, measure] of Object.entries(parts)) if (name === (part ?? name)) await measure(servers);
}
