import { callOrder } from './call-order.ts';
import type { Check } from './check.ts';
import { children } from './children.ts';
import { closedGroups } from './closed-groups.ts';
import { gaplessSequences } from './gapless-sequences.ts';
import { handoffs } from './handoffs.ts';
import { inputsOnce } from './inputs-once.ts';
import { limits } from './limits.ts';
import { linearStorage } from './linear-storage.ts';
import { oneTerminalEvent } from './one-terminal-event.ts';
import { operationsOnce } from './operations-once.ts';
import { runsEnd } from './runs-end.ts';
import { unchangedEntries } from './unchanged-entries.ts';

/** Checks that any Lanefold database must pass. I9 and I11 need a replay of every context: see replay-contexts.ts. */
export const checks: readonly Check[] = [
  ...gaplessSequences,
  ...unchangedEntries,
  ...oneTerminalEvent,
  ...closedGroups,
  ...runsEnd,
  ...children,
  ...handoffs,
  ...limits,
  ...operationsOnce,
  ...inputsOnce,
  ...callOrder,
  ...linearStorage,
];
