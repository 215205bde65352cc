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
