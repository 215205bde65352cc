/** The parts of a W3C `traceparent`. */
export interface TraceParent {
  traceId: string;
  spanId: string;
  traceFlags: number;
}

const pattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Reads a `traceparent`; undefined for anything else, as the specification asks. Later versions may have more parts.
 */
export function parseTraceparent(text: string | null | undefined): TraceParent | undefined {
  const [, version, traceId, spanId, flags, more] = pattern.exec(text ?? '') ?? [];
  if (!traceId || !spanId || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: parseInt(flags!, 16) };
}

export const formatTraceparent = ({ traceId, spanId, traceFlags }: TraceParent): string =>
  `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;

/**
 * The parent of a run: the given one, for example from a request header, or the active span. If both are in the same
 * trace, the active span wins, because it is nested in the given one and closer to the run.
 */
export function parentOf(given: string | undefined, active: string | undefined): string | undefined {
  const parent = parseTraceparent(given);
  const nearer = parseTraceparent(active);
  const chosen = !parent || parent.traceId === nearer?.traceId ? (nearer ?? parent) : parent;
  return chosen && formatTraceparent(chosen);
}
