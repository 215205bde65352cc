import type { Check } from './check.ts';
import { i1 } from './i1.ts';
import { i10 } from './i10.ts';
import { i2 } from './i2.ts';
import { i3 } from './i3.ts';
import { i4 } from './i4.ts';
import { i5 } from './i5.ts';
import { i6 } from './i6.ts';
import { i7 } from './i7.ts';
import { i8 } from './i8.ts';

export type { Check } from './check.ts';

/** Questions any Lanefold database can be asked. I9 and I11 take a projection: see project.ts. */
export const checks: readonly Check[] = [...i1, ...i2, ...i3, ...i4, ...i5, ...i6, ...i7, ...i8, ...i10];
