import type { Group } from './groups.ts';
import type { Limits, StoredPolicy } from './policy.ts';

interface Cut {
  /** The reason for each group. */
  reasons: PolicyReason[];
  /** Whether at least one group was dropped. */
  moved: boolean;
  overBudget: boolean;
}

interface Fixed {
  /** Groups that are always sent. */
  pinned: readonly Group[];
  toolTokens: number;
  /** Share of the limits that a new cut fills. */
  lowWater: number;
}

/**
 * Chooses which droppable groups to drop. If all fit, it drops nothing. Otherwise it keeps the newest that fit, and at least the
 * last turns of the policy. If those turns alone exceed what the model takes, it keeps only the newest question and the
 * newest part of what follows it.
 */
export function cutGroups(
  groups: readonly Group[],
  policy: Pick<StoredPolicy, 'max_messages' | 'keep_last_turns'>,
  { budget, ceiling }: Pick<Limits, 'budget' | 'ceiling'>,
  { pinned, toolTokens, lowWater }: Fixed,
): Cut {
  const limits = { tokens: budget ?? Infinity, messages: policy.max_messages || Infinity };
  const used = { tokens: toolTokens + tokensOf(pinned), messages: messagesOf(pinned) };
  const tooLarge = (kept: readonly Group[], tokens: number): boolean => used.tokens + tokensOf(kept) > tokens;
  const tooMany = (kept: readonly Group[]): boolean => used.messages + messagesOf(kept) > limits.messages;
  const guaranteed = startOfTurn(groups, policy.keep_last_turns);

  let newest: Newest = { kept: groups, fitting: 0 };
  if (tooLarge(groups, limits.tokens) || tooMany(groups)) {
    const room = {
      tokens: limits.tokens * lowWater - used.tokens,
      messages: limits.messages * lowWater - used.messages,
    };
    newest = newestWithin(groups, room, guaranteed);
    if (ceiling !== null && tooLarge(newest.kept, ceiling)) newest = newestWithin(groups, room, groups.length);
  }
  const { kept, fitting } = newest;
  const stays = kept.length < groups.length ? new Set(kept) : undefined;
  const question = kept.findLast((group) => group.user === 'asks');
  const why = tooLarge(groups, limits.tokens) ? 'budget' : 'max_messages';
  const reasonOf = (group: Group, i: number): PolicyReason => {
    if (stays && !stays.has(group)) return i < fitting ? why : 'before_question';
    return group === question ? 'question' : i >= guaranteed ? 'last_turns' : 'fits';
  };
  return {
    reasons: groups.map(reasonOf),
    moved: kept.length < groups.length,
    overBudget: tooLarge(kept, limits.tokens) || tooMany(kept),
  };
}

interface Newest {
  kept: readonly Group[];
  /** Index of the first group from which on all groups fit. */
  fitting: number;
}

/** The newest groups that fit into the room, always including those from `guaranteed` on, beginning at a question. */
function newestWithin(groups: readonly Group[], room: Room, guaranteed: number): Newest {
  const fitting = Math.min(fitNewest(groups, room), guaranteed);
  const begin = groups.findIndex((group, i) => i >= fitting && group.user === 'asks');
  if (begin >= 0) return { kept: groups.slice(begin), fitting };
  const question = groups.findLastIndex((group) => group.user === 'asks');
  const turn = groups.slice(Math.max(question, 0));
  const said = turn.filter((group) => group.user);
  const rest = turn.filter((group) => !group.user);
  const left = { tokens: room.tokens - tokensOf(said), messages: room.messages - messagesOf(said) };
  // always keep the last group: the model continues from it
  const from = rest[Math.min(fitNewest(rest, left), rest.length - 1)];
  const newest = new Set(from ? rest.slice(rest.indexOf(from)) : []);
  return { kept: turn.filter((group) => group.user || newest.has(group)), fitting: groups.length };
}

/** Index of the group that begins the newest `turns` turns; the number of groups if `turns` is 0. */
export function startOfTurn(groups: readonly Group[], turns: number): number {
  let start = groups.length;
  for (let i = groups.length - 1, left = turns; i >= 0 && left > 0; i--) {
    start = i;
    if (groups[i]!.user === 'asks') left -= 1;
  }
  return start;
}

const tokensOf = (groups: readonly Group[]): number => groups.reduce((sum, group) => sum + group.tokens, 0);
const messagesOf = (groups: readonly Group[]): number =>
  groups.reduce((sum, { kind, start, end }) => sum + (kind === 'system' ? 0 : end - start), 0);

interface Room {
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

/** Why a message is in a request. `question`: it is the newest user message, which is never dropped. */
export type KeptReason = 'system_prompt' | 'summary' | 'durable' | 'last_turns' | 'question' | 'fits' | 'projector';

/**
 * Why a message is left out. `cut_before`: an earlier request dropped it, and that cut stays in force.
 * `before_question`: it would fit, but the user message it belongs to does not.
 */
export type LeftReason =
  'kind' | 'summarization' | 'cut_before' | 'budget' | 'max_messages' | 'before_question' | 'not_chosen';

export type PolicyReason = KeptReason | LeftReason;

const kept = new Set<PolicyReason>([
  'system_prompt',
  'summary',
  'durable',
  'last_turns',
  'question',
  'fits',
  'projector',
]);

export const isKept = (reason: PolicyReason): boolean => kept.has(reason);
