import { createHash } from 'node:crypto';

/** When a slot is due: the same part of the jitter delays it in every process. */
export function dueAfter(slot: Date, jitterMs: number, schedule: string): Date {
  if (jitterMs === 0) return slot;
  const digest = createHash('sha256').update(`${schedule} ${slot.toISOString()}`).digest();
  return new Date(slot.getTime() + Math.floor((digest.readUInt32BE(0) / 2 ** 32) * jitterMs));
}
