import { LanefoldError } from '../../errors.ts';

export interface TraceOptions {
  /** Events of a run from which on started events and other droppable ones are left out of its trace; default 2,000. */
  maxTraceEvents?: number;
  /** Days after its end that the trace of a run is kept; 0 for ever. Default `LANEFOLD_TRACE_RETENTION_DAYS`, else 30. */
  traceRetentionDays?: number;
}

const defaultDays = 30;
const mostDays = 36_500;

/** @throws LanefoldError `invalid_input` */
export function checkTraceOptions({ maxTraceEvents, traceRetentionDays }: TraceOptions): { retentionDays: number } {
  if (maxTraceEvents !== undefined && !(Number.isInteger(maxTraceEvents) && maxTraceEvents >= 1)) {
    throw new LanefoldError('invalid_input', `maxTraceEvents is ${maxTraceEvents}, not a whole number from 1.`, {
      hint: 'Leave it out for 2,000.',
    });
  }
  const given = traceRetentionDays ?? (process.env['LANEFOLD_TRACE_RETENTION_DAYS'] || defaultDays);
  const retentionDays = Number(given);
  if (retentionDays >= 0 && retentionDays <= mostDays) return { retentionDays };
  throw new LanefoldError('invalid_input', `Traces are to be kept ${JSON.stringify(given)} days.`, {
    hint: `Set LANEFOLD_TRACE_RETENTION_DAYS to a number from 0, which means for ever, to ${mostDays}.`,
  });
}
