import type { RunJson } from '../api.ts';

const ends: readonly string[] = ['completed', 'failed', 'cancelled'];

export const hasEnded = ({ status }: Pick<RunJson, 'status'>): boolean => ends.includes(status);

/** A tool call of a run that a person can decide or release. */
export interface OpenCall {
  /** Its round and index, such as `1.0`. */
  call: string;
  kind: 'approval' | 'event';
  tool: string;
  /** What the model passed to the tool; for approvals. */
  arguments?: unknown;
  /** The event it waits for. */
  event?: string;
  /** When the wait ends by itself. */
  until?: string;
}

/** What a suspended run waits for that a person can give. Times and other runs come by themselves. */
export function openCalls({ status, waits, awaiting }: RunJson): OpenCall[] {
  if (status !== 'suspended') return [];
  return waits.flatMap(({ call: name, kind, name: tool, event, until }): OpenCall[] => {
    const call = { call: name, tool, ...(until === null ? {} : { until }) };
    if (kind === 'event') return [{ ...call, kind, ...(event === null ? {} : { event }) }];
    const asked = awaiting.find((one) => one.call === name);
    return kind === 'approval' ? [{ ...call, kind, arguments: asked?.arguments }] : [];
  });
}
