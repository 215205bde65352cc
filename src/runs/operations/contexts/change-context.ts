import type { OverrideCaller } from '../../../agent/definition/overridable.ts';
import type { AgentRegistry } from '../../../agent/definition/registry.ts';
import type { Json, JsonObject } from '../../../agent/context/message.ts';
import { acceptMessage } from '../../../agent/models/accept-content.ts';
import { assertId, newId } from '../../../base/checks/ids.ts';
import { assertStorable, promptOf } from '../../../base/checks/values.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import { checkOptions } from '../../../base/operations/checked.ts';
import { from as fromOption, Id } from '../../../base/operations/schemas.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { applyOperation } from '../../../database/store/context/apply-operation.ts';
import type { OperationReceipt } from '../../../database/store/context/types.ts';
import { assertThreadOverrides } from '../runs/allow-overrides.ts';
import { requestHash } from '../runs/enqueue-request.ts';
import { NewContext as newContext, OperationOptions as operationOptions } from './declaration.ts';
import { lanes } from './read-lane.ts';
import type { NewContext, OperationOptions } from './types.ts';

interface OnLane extends OperationOptions {
  contextRef?: string;
}

const onLane = operationOptions.extend({ contextRef: Id.optional() });
const onLaneFrom = onLane.extend({ from: fromOption });

/** See `Contexts.replace`. */
export async function replace(
  { db, agents }: { db: Database; agents: AgentRegistry },
  threadId: string,
  context: NewContext,
  options: OnLane & { from?: OverrideCaller } = {},
): Promise<OperationReceipt> {
  checkOptions('contexts.replace', newContext, context);
  checkOptions('contexts.replace', onLaneFrom, options);
  const { systemPrompt, id, entries } = context;
  const { from = 'library', ...on } = options;
  assertThreadOverrides(agents, { systemPrompt }, from);
  const result = omitUndefined({
    entries: entries.map(acceptMessage) as unknown as Json,
    id,
    system_prompt: systemPrompt === undefined ? undefined : promptOf(systemPrompt),
  });
  return apply(db, threadId, { type: 'replace', result_context: result as JsonObject }, on);
}

/** See `Contexts.reset`. */
export async function reset(db: Database, threadId: string, options: OnLane = {}): Promise<OperationReceipt> {
  checkOptions('contexts.reset', onLane, options);
  return apply(db, threadId, { type: 'replace', result_context: { entries: [] } }, options);
}

/** See `Contexts.switch`. */
export async function switchTo(
  db: Database,
  threadId: string,
  contextRef: string,
  options: OperationOptions = {},
): Promise<OperationReceipt> {
  checkOptions('contexts.switch', operationOptions, options);
  assertId(contextRef, 'The context_ref');
  return apply(db, threadId, { type: 'switch' }, { ...options, contextRef });
}

/** See `Contexts.show`. */
export async function show(
  db: Database,
  threadId: string,
  contextRef: string,
  options: OperationOptions = {},
): Promise<OperationReceipt> {
  checkOptions('contexts.show', operationOptions, options);
  assertId(contextRef, 'The context_ref');
  const known = await lanes(db, threadId);
  if (known.some((lane) => lane.contextRef === contextRef)) return switchTo(db, threadId, contextRef, options);
  throw new LanefoldError('invalid_operation', `Thread ${threadId} has no lane ${contextRef}.`, {
    hint: 'Nothing was written. threads.branches lists the lanes.',
  });
}

async function apply(
  db: Database,
  threadId: string,
  operation: JsonObject,
  { contextRef, opId = newId('op'), reason = 'manual', baseSeq, meta, expectedRev, repair }: OnLane,
): Promise<OperationReceipt> {
  assertId(threadId, 'The thread id');
  const body = omitUndefined({ ...operation, reason, base_seq: baseSeq, meta }) as JsonObject;
  assertStorable(body, 'The operation');
  const hash = requestHash({ contextRef, body });
  return applyOperation(db, threadId, { opId, contextRef, operation: body, hash, expectedRev, repair });
}
