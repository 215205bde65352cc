import { cod } from './cod/index.ts';
import { cot } from './cot/index.ts';
import type { Machine } from './machine.ts';
import { react } from './react/machine.ts';

/** Every strategy by its name. A machine's state is opaque to the runtime, hence the cast. */
export const strategies = Object.fromEntries(
  [react, cot, cod].map((machine) => [machine.name, machine]),
) as unknown as Record<string, Machine>;

export type { Machine } from './machine.ts';
