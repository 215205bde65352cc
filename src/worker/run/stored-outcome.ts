import { omitUndefined } from '../../base/common/omit-undefined.ts';
import type { JsonObject } from '../../agent/context/message.ts';
import type { LedgerRow } from '../../database/store/run/claim-run.ts';
import type { ToolOutcome } from '../../agent/tools/outcome.ts';

/** An outcome as the ledger stores it. */
export const ledgerRow = (outcome: ToolOutcome): JsonObject => ({
  status: outcome.status,
  attempts: outcome.attempts,
  duration_ms: outcome.durationMs,
  ...(outcome.status === 'waiting'
    ? {}
    : { outcome: { content: outcome.content, ...extras(outcome) } as unknown as JsonObject }),
});

export const fromLedger = (row: LedgerRow): ToolOutcome => ({
  status: row.status as ToolOutcome['status'],
  content: row.outcome!.content,
  attempts: row.attempts,
  durationMs: row.duration_ms ?? 0,
  ...extras(row.outcome!),
});

/** The optional fields of an outcome that are set. */
const extras = ({
  cleaned,
  effects,
  refused,
  refs,
  next,
  waited,
}: Pick<ToolOutcome, 'cleaned' | 'effects' | 'refused' | 'refs' | 'next' | 'waited'>) =>
  omitUndefined({ cleaned, effects, refused, refs, next, waited });
