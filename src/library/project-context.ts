import { canonicalMessage } from '../context/canonical.ts';
import type { ContextRow } from '../context/fold.ts';
import type { Json, JsonObject } from '../context/message.ts';
import { fixedTokens, type FixedParts } from '../models/counting/fixed-tokens.ts';
import type { Counting } from '../models/counting/counting.ts';
import { budget, type Budgeted, type ProjectionMeta } from '../policy/budget.ts';
import type { DroppedRange } from '../policy/dropped.ts';
import { estimate } from '../policy/estimate.ts';
import { fitNewest } from '../policy/fit-newest.ts';
import { groupMessages, type GroupKind, type PlacedMessage } from '../policy/groups.ts';
import { limitsOf } from '../policy/limits.ts';
import { place, withPrompt } from '../policy/place.ts';
import type { PolicyOption, StoredPolicy } from '../policy/policy.ts';
import { chosen } from '../policy/projector.ts';
import { readPolicy, readPolicyJson } from '../policy/read-policy.ts';
import type { Reason } from '../policy/reasons.ts';
import { sentMessage } from '../policy/sent.ts';

export interface PolicyView {
  /** Default: the policy of the thread, with the cut its last model call left in force. */
  policy?: PolicyOption | undefined;
  /** For the window and the tokenizer; `provider:model`. Default: no window. */
  model?: string | undefined;
  /** Adds, for every message, why it is sent or not and what it costs. */
  explain?: boolean | undefined;
}

/** The request a context is cut for, where it is known. */
export interface FixedRequest extends FixedParts {
  maxOutputTokens?: number | undefined;
}

/** Why a message is sent or not. */
export interface ExplainedMessage {
  /** Position in the context before the policy. */
  ordinal: number;
  seq: number;
  role: string;
  kind: GroupKind;
  tokens: number;
  included: boolean;
  reason: Reason;
}

/** A context as a policy lets it through. */
export interface Projection {
  /** With the defaults filled in, in snake_case. */
  policy: StoredPolicy;
  messages: ContextRow[];
  meta: ProjectionMeta & {
    /** Tokens of the model's context window; null: unknown. */
    window: number | null;
    /** How tokens were counted; of `calibrated` with the correction, its mean error and the calls it was learnt from. */
    estimator: { name: string; ratio: number; error: number | null; calls: number | null; fallback: string | null };
  };
  explain?: ExplainedMessage[];
}

/**
 * Applies a policy to the rows of a lane.
 *
 * @param configured the policy in the log of the thread, where it has one
 * @throws LanefoldError `invalid_policy`, `unknown_window`, `invalid_projection`
 */
export async function projectContext(
  counting: Counting,
  rows: readonly ContextRow[],
  configured: Json | undefined,
  { policy: given, model, explain }: PolicyView,
  request: FixedRequest = { tools: [] },
): Promise<Projection> {
  const policy =
    given === undefined ? (configured == null ? readPolicy('window') : readPolicyJson(configured)) : readPolicy(given);
  counting.check(policy);
  const window = model === undefined ? undefined : await counting.windowOf(model);
  const limits = limitsOf(policy, {
    model: model ?? 'of this lane',
    window,
    maxOutputTokens: request.maxOutputTokens,
  });
  const messages = withPrompt(placedRows(rows), policy.system_prompt);
  const counter = await counting.counterOf(policy.token_estimator, model ?? '');
  const counted = await estimate(
    messages.map(({ message }) => message),
    counter.count,
    model ?? '',
  );
  const tokens = counted.tokens.map((count) => Math.ceil(count * counter.ratio));
  const dropped = given === undefined ? cutInForce(rows) : [];
  const toolTokens = Math.ceil(fixedTokens(counting, model ?? '', request) * counter.ratio);
  const budgeted =
    policy.projector === undefined
      ? budget(messages, tokens, policy, limits, { dropped, toolTokens })
      : await byProjector(counting, messages, tokens, policy, { budget: limits.budget, toolTokens });
  const { ratio, error, calls } = counting.calibrationOf(model ?? '');
  const calibrated = counter.name === 'calibrated';
  return {
    policy,
    messages: sentRows(rows, messages, budgeted, policy),
    meta: {
      ...budgeted.meta,
      window: window ?? null,
      estimator: {
        name: counted.fallback ? 'heuristic' : counter.name,
        ratio: calibrated ? ratio : 1,
        error: calibrated && calls > 0 ? error : null,
        calls: calibrated ? calls : null,
        fallback: counted.fallback?.mark ?? null,
      },
    },
    ...(explain ? { explain: explained(messages, tokens, budgeted) } : {}),
  };
}

/** The newest rows, at most `limit` besides the system prompt; tool groups whole, and at least one message. */
export function newestRows(rows: readonly ContextRow[], limit: number): ContextRow[] {
  const groups = groupMessages(placedRows(rows));
  const spoken = groups.filter((group) => group.kind !== 'system');
  const from = spoken[Math.min(fitNewest(spoken, { tokens: 0, messages: limit }), spoken.length - 1)]?.start ?? 0;
  return rows.filter((row, i) => row.role === 'system' || i >= from);
}

function placedRows(rows: readonly ContextRow[]): PlacedMessage[] {
  const placed: PlacedMessage[] = [];
  for (const row of rows) placed.push(place(placed.at(-1), canonicalMessage(row), row.seq, row.refs));
  return placed;
}

function cutInForce(rows: readonly ContextRow[]): DroppedRange[] {
  const refs = rows.findLast((row) => row.role === 'assistant')?.refs as JsonObject | null | undefined;
  return Array.isArray(refs?.['dropped']) ? (refs['dropped'] as unknown as DroppedRange[]) : [];
}

async function byProjector(
  counting: Counting,
  messages: readonly PlacedMessage[],
  tokens: readonly number[],
  policy: StoredPolicy,
  { budget, toolTokens }: { budget: number | null; toolTokens: number },
): Promise<Budgeted> {
  const given = messages.map(({ message, seq }) => ({ ...message, seq }));
  const input = { messages: given, tokens, budget, policy: policy as unknown as JsonObject };
  const choice = await counting.projector(policy.projector!)(structuredClone(input));
  return chosen(messages, tokens, choice, { budget, toolTokens });
}

function sentRows(
  rows: readonly ContextRow[],
  messages: readonly PlacedMessage[],
  { included }: Budgeted,
  policy: StoredPolicy,
): ContextRow[] {
  const added = messages.length - rows.length;
  const sent: ContextRow[] = [];
  for (const [i, placed] of messages.entries()) {
    if (!included[i]) continue;
    const { role, content } = sentMessage(placed, sent.at(-1) as never, policy);
    const row = rows[i - added] ?? { ...emptyRow, anchor_seq: rows[0]?.anchor_seq ?? -1 };
    sent.push({ ...row, seq: placed.seq, ordinal: sent.length, role, content: content as Json });
  }
  return sent;
}

const emptyRow: Omit<ContextRow, 'seq' | 'ordinal' | 'role' | 'content' | 'anchor_seq'> = {
  tool_calls: null,
  tool_call_id: null,
  name: null,
  thinking: null,
  reasoning_details: null,
  provider_metadata: null,
  run_id: null,
  request_id: null,
  refs: null,
};

const explained = (
  messages: readonly PlacedMessage[],
  tokens: readonly number[],
  { included, reasons }: Budgeted,
): ExplainedMessage[] =>
  groupMessages(messages).flatMap(({ kind, start, end }) =>
    messages.slice(start, end).map(({ message, seq }, i) => ({
      ordinal: start + i,
      seq,
      role: message.role,
      kind,
      tokens: tokens[start + i]!,
      included: included[start + i]!,
      reason: reasons[start + i]!,
    })),
  );
