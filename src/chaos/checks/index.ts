import type { Check } from './check.ts';
import { i1 } from './gapless-sequences.ts';
import { i10 } from './linear-storage.ts';
import { i2 } from './unchanged-entries.ts';
import { i3 } from './one-terminal-event.ts';
import { i4 } from './closed-groups.ts';
import { i5 } from './runs-end.ts';
import { i6 } from './operations-once.ts';
import { i7 } from './inputs-once.ts';
import { i8 } from './call-order.ts';

export type { Check } from './check.ts';

/** Questions any Lanefold database can be asked. I9 and I11 take a projection: see project.ts. */
export const checks: readonly Check[] = [...i1, ...i2, ...i3, ...i4, ...i5, ...i6, ...i7, ...i8, ...i10];
