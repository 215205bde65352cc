import { type ContextRow } from '../../../agent/context/fold.ts';
import { canonicalMessage } from '../../../agent/context/canonical.ts';
import type { Json, JsonObject, Message } from '../../../agent/context/message.ts';
import type { Counting } from '../../../agent/models/counting.ts';
import { cutContext, type CutContext, type FixedParts } from '../../../agent/models/cut-context.ts';
import { Acceptable, type Dialect } from '../../../agent/models/acceptable-prompt.ts';
import { sentMessage } from '../../../agent/policy/budget.ts';
import { loggedDropped, groupMessages, type PlacedMessage, place } from '../../../agent/policy/groups.ts';
import { limitsWithin, loggedRoom, limitsOf, type StoredPolicy } from '../../../agent/policy/policy.ts';
import { fitNewest } from '../../../agent/policy/cut-groups.ts';
import type { ExplainedMessage, PolicyView, ProjectionMeta } from './types.ts';

/** Whether any of these options is set: then a read returns what a call would be sent, otherwise the whole context. */
export const asksOfCall = ({ policy, model, agent, fullBudget, explain }: PolicyView): boolean =>
  policy !== undefined || model !== undefined || agent !== undefined || fullBudget === true || explain === true;

/** The model call a context is cut for, as far as it is known. */
export interface ProjectedCall extends FixedParts {
  policy: StoredPolicy;
  model: string | undefined;
  maxOutputTokens?: number | undefined;
  /** What the model's provider accepts; undefined if this process does not know the model. */
  dialect?: Dialect | undefined;
}

/** A context as cut by a policy. */
export interface ContextProjection {
  /** With the defaults filled in, in snake_case. */
  policy: StoredPolicy;
  messages: ContextRow[];
  meta: ProjectionMeta;
  explain?: ExplainedMessage[];
}

/**
 * Cuts the rows of a lane to what a model call would be sent that is made `at` a time of the database.
 *
 * @throws LanefoldError `invalid_policy`, `unknown_window`, `invalid_projection`
 */
export async function projectContext(
  counting: Counting,
  rows: readonly ContextRow[],
  { policy, model, maxOutputTokens, dialect, at, ...fixed }: ProjectedCall & { at: Date },
  { explain = false, full = false }: { explain?: boolean; full?: boolean } = {},
): Promise<ContextProjection> {
  counting.check(policy);
  const window = model === undefined ? undefined : await counting.windowOf(model);
  const counter = await counting.counterOf(policy.token_estimator, model ?? '');
  const refs = rows.findLast((row) => row.role === 'assistant')?.refs as JsonObject | null | undefined;
  // what the call would go by
  const learnt = model === undefined || counting.isConfigured(model) ? undefined : loggedRoom(refs ?? null, model, at);
  const known = limitsOf(policy, { model: model ?? 'of this lane', window, maxOutputTokens });
  const limits = limitsWithin(known, policy, learnt);
  const recalled = { dropped: loggedDropped(refs ?? null, limits.hash), tokens: new WeakMap<Message, number>() };
  const request = { model: model ?? '', policy, limits, ...fixed };
  const cut = await cutContext(counting, placedRows(rows), request, counter, recalled, { full });
  // a run would fall back to the built-in rules; this read is meant to show what the projector does
  if (cut.projectorError !== undefined) throw cut.projectorError;
  const { ratio, error, calls } = counting.calibrationOf(model ?? '');
  const calibrated = counter.name === 'calibrated';
  return {
    policy,
    messages: acceptableRows(sentRows(rows, cut, policy), dialect),
    meta: {
      ...cut.meta,
      window: window ?? null,
      estimator: {
        name: cut.fallback === undefined ? counter.name : 'heuristic',
        ratio: calibrated ? ratio : 1,
        error: calibrated && calls > 0 ? error : null,
        calls: calibrated ? calls : null,
        fallback: cut.fallback ?? null,
      },
    },
    ...(explain ? { explain: explained(cut) } : {}),
  };
}

/** The newest rows: at most `limit` besides the system prompt, with whole tool groups and at least one message. */
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

function sentRows(rows: readonly ContextRow[], { messages, included }: CutContext, policy: StoredPolicy): ContextRow[] {
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

/** The rows as the provider accepts them; a message that it needs at the beginning has the `seq` -1. */
function acceptableRows(rows: ContextRow[], dialect: Dialect | undefined): ContextRow[] {
  if (dialect === undefined) return rows;
  const form = new Acceptable(dialect);
  const sent = rows.flatMap((row) => {
    const message = canonicalMessage(row);
    return form.push(message).map((own, i, all) => {
      if (own === message) return row;
      const { role, content } = own as { role: string; content: Json };
      if (i < all.length - 1) return { ...emptyRow, anchor_seq: row.anchor_seq, seq: -1, ordinal: 0, role, content };
      const { tool_calls: calls, tool_call_id: id = null, name = null } = own;
      return { ...row, role, content, tool_calls: (calls ?? null) as Json, tool_call_id: id, name };
    });
  });
  return sent.map((row, ordinal) => ({ ...row, ordinal }));
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

const explained = ({ messages, tokens, included, reasons }: CutContext): ExplainedMessage[] =>
  groupMessages(messages).flatMap(({ kind, start, end }) =>
    messages.slice(start, end).map(({ message, seq }, i) => ({
      ordinal: start + i,
      seq,
      role: message.role,
      kind,
      tokens: tokens[start + i]!,
      included: included[start + i]!,
      reason: reasons[start + i]!,
      ...(included[start + i] ? {} : { message }),
    })),
  );
