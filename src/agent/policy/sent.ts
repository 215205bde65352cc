import type { JsonObject, Message } from '../context/message.ts';
import type { Budgeted } from './budget.ts';
import { summaryMark, type PlacedMessage } from './groups.ts';
import type { Limits } from './limits.ts';
import type { PolicyReason } from './reasons.ts';
import { allKinds, type ContentKind, type StoredPolicy } from './policy.ts';

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
export const sentKinds = ({ include_kinds: kinds, summarization }: StoredPolicy): ContentKind[] =>
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
