import type { Group } from './groups.ts';

export interface Room {
  tokens: number;
  messages: number;
}

/**
 * Index of the first of the newest groups that fit into `room`. Stops at the first group that does not fit: keeping an
 * older, smaller one would leave a gap.
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
