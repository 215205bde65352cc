import {
  droppedRanges,
  isDropped,
  type DroppedRange,
  groupMessages,
  type Group,
  type PlacedMessage,
  summaryMark,
} from './groups.ts';
import { cutGroups, isKept, type PolicyReason } from './cut-groups.ts';
import { type Limits, type StoredPolicy, allKinds } from './policy.ts';
import { type ContentKind } from './types.ts';
import type { JsonObject, Message } from '../context/message.ts';

export interface Budgeted {
  /** For each message, whether it is sent. */
  included: boolean[];
  /** For each message, why it is sent or left out. */
  reasons: PolicyReason[];
  /**
   * The messages that the limits dropped, in this call or an earlier one; without those that `include_kinds` leaves
   * out.
   */
  dropped: DroppedRange[];
  /** Whether this call dropped more than the cut already in force. */
  moved: boolean;
  meta: ProjectionMeta;
}

/** What a policy did to a context. */
export interface ProjectionMeta {
  /** Estimated tokens of the messages sent, including the system prompt. */
  estimated_tokens: number;
  /** Estimated tokens of the tools offered. */
  tool_tokens: number;
  /** Maximum tokens of the request; null: no limit. */
  budget: number | null;
  /** Whether the budget or `max_messages` left out at least one message. */
  truncated: boolean;
  /** Messages sent, and messages of the lane; both without the system prompt. */
  entries_included: number;
  entries_total: number;
  summary_used: boolean;
  /** Whether the messages that must be kept exceed the budget. */
  over_budget: boolean;
}

export interface BudgetOptions {
  /** Tokens of the tools offered with the request; default 0. */
  toolTokens?: number;
  /** The cut in force: what earlier requests dropped stays dropped. */
  dropped?: readonly DroppedRange[];
  /** Share of the budget that a new cut fills, so that the cut lasts for a while; default 1: all of it. */
  lowWater?: number;
}

/**
 * Chooses the messages of a request: the newest groups, each whole or not at all, beginning at a user message. Pure;
 * takes time linear in the messages.
 *
 * @param tokens of each message
 */
export function budget(
  messages: readonly PlacedMessage[],
  tokens: readonly number[],
  policy: StoredPolicy,
  limits: Pick<Limits, 'budget' | 'ceiling'>,
  { toolTokens = 0, dropped: inForce = [], lowWater = 1 }: BudgetOptions = {},
): Budgeted {
  const groups = groupMessages(messages, tokens);
  const fixed: (PolicyReason | undefined)[] = [];
  const [open, pinned]: [Group[], Group[]] = [[], []];
  for (const group of groups) {
    const reason =
      fixedReason(group, policy) ?? (isDropped(inForce, messages[group.start]!) ? ('cut_before' as const) : undefined);
    fixed.push(reason);
    if (reason === undefined) open.push(group);
    else if (isKept(reason)) pinned.push(group);
  }
  const cut = cutGroups(open, policy, limits, { pinned, toolTokens, lowWater });
  let next = 0;
  for (let i = 0; i < fixed.length; i++) fixed[i] ??= cut.reasons[next++];
  return describe(messages, groups, fixed as PolicyReason[], { toolTokens, limits, inForce, cut });
}

function fixedReason(group: Group, { include_kinds: kinds, summarization }: StoredPolicy): PolicyReason | undefined {
  if (group.kind === 'system') return 'system_prompt';
  if (group.kind === 'summary' && summarization === 'none') return 'summarization';
  const kind: ContentKind = group.kind === 'tool_group' ? 'tool_call' : group.kind;
  if (!kinds.includes(kind)) return 'kind';
  if (group.kind === 'summary') return 'summary';
  return group.durable ? 'durable' : undefined;
}

function describe(
  messages: readonly PlacedMessage[],
  groups: readonly Group[],
  reasonOf: readonly PolicyReason[],
  {
    toolTokens,
    limits,
    inForce,
    cut,
  }: {
    toolTokens: number;
    limits: Pick<Limits, 'budget'>;
    inForce: readonly DroppedRange[];
    cut: { moved: boolean; overBudget: boolean };
  },
): Budgeted {
  const reasons: PolicyReason[] = [];
  const included: boolean[] = [];
  const cutting: (boolean | undefined)[] = [];
  const meta = {
    estimated_tokens: 0,
    tool_tokens: toolTokens,
    entries_included: 0,
    entries_total: 0,
    summary_used: false,
  };
  for (const [at, group] of groups.entries()) {
    const reason = reasonOf[at]!;
    const kept = isKept(reason);
    const prompt = reason === 'system_prompt';
    if (kept) meta.estimated_tokens += group.tokens;
    if (reason === 'summary') meta.summary_used = true;
    for (let i = group.start; i < group.end; i++) {
      reasons.push(reason);
      included.push(kept);
      cutting.push(prompt || reason === 'kind' || reason === 'summarization' ? undefined : kept);
      if (!prompt) meta.entries_total += 1;
      if (!prompt && kept) meta.entries_included += 1;
    }
  }
  const { moved, overBudget: over_budget } = cut;
  const dropped = moved || inForce.length > 0 ? droppedRanges(messages, cutting) : [];
  const truncated = dropped.length > 0;
  return { included, reasons, dropped, moved, meta: { ...meta, budget: limits.budget, truncated, over_budget } };
}

/** The message in the form it is sent. Only a summary changes: see `summary_role`. */
export function sentMessage(
  { message, mark }: PlacedMessage,
  before: Message | undefined,
  policy: StoredPolicy,
): Message {
  // providers accept system messages only at the start
  const asSystem = mark === summaryMark && policy.summary_role === 'system' && (before?.role ?? 'system') === 'system';
  return asSystem && typeof message.content === 'string' ? { role: 'system', content: message.content } : message;
}

const ofKind = new Set<PolicyReason>(['kind', 'summarization']);

/** The kinds of messages a policy sends. */
const sentKinds = ({ include_kinds: kinds, summarization }: StoredPolicy): ContentKind[] =>
  summarization === 'none' ? kinds.filter((kind) => kind !== 'summary') : kinds;

/**
 * What the log records of a policy, so that `lanefold.call_context` returns the messages as they were sent:
 * `policy_hash`, `dropped`, `kinds` if some are left out, `kinds_cut` if the context had such messages, `summary_role`
 * and `prompt: "policy"` if the policy set them, and `over_budget`.
 */
export function policyRefs(
  policy: StoredPolicy,
  limits: Limits,
  budgeted: Budgeted,
  summaryAsSystem: boolean,
): JsonObject {
  const kinds = sentKinds(policy);
  return {
    policy_hash: limits.hash,
    ...(budgeted.dropped.length > 0 ? { dropped: budgeted.dropped } : {}),
    ...(kinds.length < allKinds.length ? { kinds } : {}),
    ...(budgeted.reasons.some((reason) => ofKind.has(reason)) ? { kinds_cut: true } : {}),
    ...(summaryAsSystem ? { summary_role: 'system' } : {}),
    ...(policy.system_prompt === undefined ? {} : { prompt: 'policy' }),
    ...(budgeted.meta.over_budget ? { over_budget: true } : {}),
  };
}
