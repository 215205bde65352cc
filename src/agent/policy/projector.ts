import type { JsonObject, Message } from '../context/message.ts';
import { LanefoldError } from '../../base/errors.ts';
import type { Budgeted } from './budget.ts';
import { droppedRanges, groupMessages, type PlacedMessage } from './groups.ts';
import type { PolicyReason } from './cut-groups.ts';

/** A context for a projector to choose from. */
export interface ContextProjectorInput {
  /** The system prompt first, where there is one. */
  messages: readonly (Message & { seq: number })[];
  /** Tokens of each message. */
  tokens: readonly number[];
  /** Maximum tokens of the request without its tools; null: no limit. */
  budget: number | null;
  /** The policy that names the projector, in snake_case. */
  policy: JsonObject;
}

/**
 * Chooses the messages of a request instead of the built-in rules: returns the indices of those to send. It must keep
 * the system prompt and the newest user message, and keep tool groups whole. Its result must depend only on its
 * arguments.
 *
 * @example
 * const firstAndLast: Projector = ({ messages }) => messages.map((_, i) => i).filter((i) => i < 3 || i >= messages.length - 10);
 */
export type ContextProjector = (input: ContextProjectorInput) => readonly number[] | Promise<readonly number[]>;

const maxRanges = 100;

/**
 * The choice of a projector, in the form that `budget` returns.
 *
 * @throws LanefoldError `invalid_projection`
 */
export function chosen(
  messages: readonly PlacedMessage[],
  tokens: readonly number[],
  choice: unknown,
  { budget, toolTokens }: { budget: number | null; toolTokens: number },
): Budgeted {
  if (!Array.isArray(choice) || !choice.every((i) => Number.isInteger(i) && i >= 0 && i < messages.length)) {
    throw invalid('did not return indices of messages');
  }
  const included = messages.map(() => false);
  for (const i of choice as number[]) included[i] = true;
  const groups = groupMessages(messages);
  for (const { start, end } of groups) {
    if (included.slice(start, end).some((kept) => kept !== included[start]))
      throw invalid(`splits the tool group at message ${start}`);
  }
  if (messages[0]?.message.role === 'system' && !included[0]) throw invalid('drops the system prompt');
  const question = groups.findLast((group) => group.user === 'asks');
  if (question && !included[question.start]) throw invalid('drops the newest user message');
  const dropped = droppedRanges(
    messages,
    messages.map(({ message }, i) => (message.role === 'system' ? undefined : included[i])),
  );
  if (dropped.length > maxRanges) throw invalid(`leaves out more than ${maxRanges} separate ranges of messages`);
  const spoken = messages.map(({ message }) => message.role !== 'system');
  const estimated = tokens.reduce((sum, count, i) => sum + (included[i] ? count : 0), 0);
  return {
    included,
    reasons: included.map((kept): PolicyReason => (kept ? 'projector' : 'not_chosen')),
    dropped,
    moved: dropped.length > 0,
    meta: {
      estimated_tokens: estimated,
      tool_tokens: toolTokens,
      budget,
      truncated: dropped.length > 0,
      entries_included: included.filter((kept, i) => kept && spoken[i]).length,
      entries_total: spoken.filter(Boolean).length,
      summary_used: false,
      over_budget: budget !== null && estimated + toolTokens > budget,
    },
  };
}

const invalid = (what: string): LanefoldError =>
  new LanefoldError('invalid_projection', `The projector ${what}.`, {
    hint: 'Return the indices of whole tool groups, with the system prompt and the newest user message.',
  });
