import { LanefoldError } from '../../base/errors.ts';

export interface TraceOptions {
  /** Length of a run's trace beyond which `started` events and other droppable ones are left out; default 2,000. */
  maxTraceEvents?: number;
  /** Days the trace of a run is kept after its end; 0 for ever. Default `LANEFOLD_TRACE_RETENTION_DAYS`, else 30. */
  traceRetentionDays?: number;
}

const defaultDays = 30;
const maxDays = 36_500;

/** @throws LanefoldError `invalid_input` */
export function checkTraceOptions({ maxTraceEvents, traceRetentionDays }: TraceOptions): { retentionDays: number } {
  if (maxTraceEvents !== undefined && !(Number.isInteger(maxTraceEvents) && maxTraceEvents >= 1)) {
    throw new LanefoldError(
      'invalid_input',
      `maxTraceEvents must be a whole number of at least 1; got ${maxTraceEvents}.`,
      {
        hint: 'Omit it for the default of 2,000.',
      },
    );
  }
  const given = traceRetentionDays ?? (process.env['LANEFOLD_TRACE_RETENTION_DAYS'] || defaultDays);
  const retentionDays = Number(given);
  if (retentionDays >= 0 && retentionDays <= maxDays) return { retentionDays };
  throw new LanefoldError(
    'invalid_input',
    `traceRetentionDays must be between 0 and 36,500; got ${JSON.stringify(given)}.`,
    {
      hint: 'Set the option or LANEFOLD_TRACE_RETENTION_DAYS; 0 keeps traces for ever.',
    },
  );
}
