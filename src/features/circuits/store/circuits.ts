import type { ProviderFailure } from '../../../agent/models/failure.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { call } from '../../../database/store/call.ts';
import { readRows } from '../../../database/store/rows.ts';
import type { CircuitRule } from '../rule.ts';
import type { ListedCircuit } from '../types.ts';

const columns = `model, state, calls::float8, failed::float8, reason, opened_at, open_until, opened_by, updated_at`;

/** All circuits: those that are not closed first, then by model. */
export const readCircuits = (db: Database): Promise<ListedCircuit[]> =>
  readRows<ListedCircuit>(
    db,
    'circuits',
    `select ${columns} from lanefold.circuit order by state = 'closed', model limit 1000`,
  );

export async function readCircuit(db: Database, model: string): Promise<ListedCircuit | undefined> {
  return (
    await readRows<ListedCircuit>(db, 'circuit', `select ${columns} from lanefold.circuit where model = $1`, [model])
  )[0];
}

/** See `open_circuit`. */
export async function openCircuit(
  db: Database,
  model: string,
  { reason, until, by }: { reason: string; until: Date | undefined; by: string },
): Promise<void> {
  await call(db.query, 'open_circuit', { model, p: { reason, by, ...(until && { until: until.toISOString() }) } });
}

/** Returns false if the model has no circuit. */
export const closeCircuit = (db: Database, model: string, by: string): Promise<boolean> =>
  call(db.query, 'close_circuit', { model, by });

interface Reported {
  model: string;
  /** How long the provider asked to be left alone. */
  wait_ms?: number;
  reason?: ProviderFailure;
}

/** How a probe does. */
export interface ProbeReport extends Reported {
  probe: string;
  outcome: 'ok' | 'failed' | 'lost' | 'goes on';
}

/** What a worker has counted of the calls of a model, or how its probe does; see `report_circuits`. */
export type CircuitReport = ProbeReport | (Reported & { ok: number; failed: number });

/** A circuit that is not closed. Times are from now, in ms. */
export interface HeldCircuit {
  model: string;
  state: 'open' | 'half_open';
  reason?: string;
  /** Since it was opened. */
  open_ms: number;
  /** Until a call may probe; absent: not before it is closed by hand. */
  wait_ms?: number;
}

const wire = ({ windowMs, share, minCalls, openMs, probeMs }: CircuitRule) => ({
  window_ms: windowMs,
  share,
  min_calls: minCalls,
  open_ms: openMs,
  probe_ms: probeMs,
});

/** Stores these reports and returns all circuits that are not closed. */
export const reportCircuits = async (
  db: Database,
  calls: readonly CircuitReport[],
  rule: CircuitRule,
): Promise<HeldCircuit[]> =>
  (await call(db.query, 'report_circuits', { calls: JSON.stringify(calls), rule: wire(rule) })) as HeldCircuit[];

/** Whether a model whose circuit is not closed may be called now; see `probe_circuit`. */
export const probeCircuit = async (
  db: Database,
  model: string,
  probe: string,
  rule: CircuitRule,
): Promise<{ may: boolean; probe?: true; wait_ms?: number }> =>
  (await call(db.query, 'probe_circuit', { model, probe, rule: wire(rule) })) as {
    may: boolean;
    probe?: true;
    wait_ms?: number;
  };

export const dropCircuits = (db: Database, days: number, limit: number): Promise<number> =>
  call(db.query, 'drop_circuits', { days, limit });
