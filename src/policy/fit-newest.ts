import type { Group } from './groups.ts';

export interface Room {
  tokens: number;
  messages: number;
}

/**
 * Index of the first group of the newest that fit into `room`. The walk stops at the first that does not fit: an older and
 * smaller one would leave a hole.
 */
export function fitNewest(groups: readonly Pick<Group, 'start' | 'end' | 'tokens'>[], room: Room): number {
  let { tokens, messages } = room;
  for (let i = groups.length - 1; i >= 0; i--) {
    const group = groups[i]!;
    tokens -= group.tokens;
    messages -= group.end - group.start;
    if (tokens < 0 || messages < 0) return i + 1;
  }
  return 0;
}
