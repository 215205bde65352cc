import type { OverrideCaller } from '../../../agent/definition/overridable.ts';
import type { AgentRegistry } from '../../../agent/definition/registry.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { assertId } from '../../../base/checks/ids.ts';
import type { Counting } from '../../../agent/models/counting.ts';
import { readPolicy, readPolicyJson, storedOption } from '../../../agent/policy/read-policy.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { readConfig, changeConfig } from '../../../database/store/context/read-config.ts';
import type { ConfigReceipt } from '../../../database/store/context/types.ts';
import { readThread } from '../../../database/store/log/read-thread.ts';
import { assertStorable, promptOf } from '../../../base/checks/values.ts';
import { assertThreadOverrides } from '../runs/allow-overrides.ts';
import type { ConfigChanges, ThreadConfig } from './types.ts';

/** The configuration of a lane as of an entry, or now. */
export async function laneConfig(
  db: Database,
  threadId: string,
  { contextRef, atSeq }: { contextRef?: string; atSeq?: number } = {},
): Promise<ThreadConfig> {
  assertId(threadId, 'The thread id');
  const { activeContextRef } = await readThread(db, threadId);
  const config = await readConfig(db, threadId, contextRef ?? activeContextRef, atSeq);
  return {
    systemPrompt: config.system_prompt ?? null,
    tools: config.tools ?? { added: [], removed: [] },
    toolContext: config.tool_context ?? {},
    contextPolicy: config.policy == null ? null : readPolicyJson(config.policy),
  };
}

/**
 * Writes changes that take effect with the next run.
 *
 * @throws LanefoldError `override_not_allowed`, `unknown_tool`, `invalid_policy`, `invalid_input`, `invalid_text`
 */
export async function configure(
  { db, agents, counting }: { db: Database; agents: AgentRegistry; counting: Counting },
  threadId: string,
  changes: ConfigChanges,
  { from = 'library', by }: { from?: OverrideCaller; by?: string } = {},
): Promise<ConfigReceipt> {
  assertId(threadId, 'The thread id');
  const { systemPrompt, toolContext, registerTools = [], unregisterTools = [], contextPolicy } = changes;
  if (contextPolicy != null) counting.check(readPolicy(contextPolicy));
  assertStorable({ systemPrompt, toolContext, contextPolicy, by }, 'The configuration');
  const tools = changes.registerTools ?? changes.unregisterTools;
  assertThreadOverrides(agents, { systemPrompt, toolContext, tools, contextPolicy }, from);
  for (const name of [...registerTools, ...unregisterTools]) {
    if (agents.toolNames.includes(name)) continue;
    throw new LanefoldError('unknown_tool', `Tool ${JSON.stringify(name)} does not exist.`, {
      hint: `Known tools: ${agents.toolNames.join(', ') || 'none; pass tools: […] to createLanefold'}.`,
      details: { tool: name, known: agents.toolNames },
    });
  }
  const fields = [
    ...(systemPrompt === undefined ? [] : [{ field: 'system_prompt', value: promptOf(systemPrompt) }]),
    ...(toolContext === undefined ? [] : [{ field: 'tool_context', value: toolContext }]),
    ...(contextPolicy === undefined ? [] : [{ field: 'policy', value: storedOption(contextPolicy) }]),
    ...(registerTools.length + unregisterTools.length === 0
      ? []
      : [{ field: 'tools', value: { register: registerTools, unregister: unregisterTools } }]),
  ];
  if (fields.length === 0) {
    throw new LanefoldError('invalid_input', 'The configuration change is empty.', {
      hint: 'Pass systemPrompt, toolContext, contextPolicy, registerTools or unregisterTools.',
    });
  }
  const changed = fields.map((field) => (by === undefined ? field : { ...field, by }));
  return changeConfig(db, threadId, changes.contextRef ?? null, changed);
}
