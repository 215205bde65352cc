import type { Machine } from './machine.ts';
import { react } from './react/index.ts';

/** Every strategy by its name. A machine's state is opaque to the runtime, hence the cast. */
export const strategies: Record<string, Machine> = { [react.name]: react as unknown as Machine };

export type { Machine } from './machine.ts';
