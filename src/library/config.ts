import { LanefoldError } from '../errors.ts';
import { assertId } from '../ids.ts';
import type { AgentRegistry } from '../agents/registry.ts';
import type { JsonObject } from '../context/message.ts';
import type { Database } from '../postgres/pool.ts';
import { assertStorable } from '../text.ts';

export interface ThreadConfig {
  systemPrompt: string | null;
  /** What the thread adds to and takes from the tools of whichever agent runs on it. */
  tools: { added: string[]; removed: string[] };
  /** Merged over the agent's `toolContext`; a request's own is merged over both. */
  toolContext: JsonObject;
}

export interface ConfigChanges {
  systemPrompt?: string | null;
  /** Replaces the thread's tool context. */
  toolContext?: JsonObject;
  /** Names of tools given to `createLanefold({ tools })`, or of tools unregistered before. */
  registerTools?: string[];
  unregisterTools?: string[];
  /** The lane; default: the whole thread. */
  contextRef?: string;
}

/** The configuration of a lane as of an entry. */
export async function readConfig(
  db: Database,
  threadId: string,
  contextRef: string,
  atSeq?: number,
): Promise<ThreadConfig> {
  assertId(threadId, 'The thread id');
  assertId(contextRef, 'The context_ref');
  const upto = atSeq ?? '9223372036854775807';
  const rows = await db.query<{ field: string; value: never }>(
    'lane_config_at',
    `select field, value from lanefold.lane_config_at($1, $2, $3) where field <> 'system_prompt'
     union all select 'system_prompt', to_jsonb(prompt) from lanefold._lane_prompt($1, $2, $3)`,
    [threadId, contextRef, upto],
  );
  const fields: Partial<Record<string, never>> = Object.fromEntries(rows.map((row) => [row.field, row.value]));
  return {
    systemPrompt: fields['system_prompt'] ?? null,
    tools: fields['tools'] ?? { added: [], removed: [] },
    toolContext: fields['tool_context'] ?? {},
  };
}

/** Writes changes that take effect with the next run. @throws LanefoldError `unknown_tool`, `invalid_input`, `invalid_text` */
export async function changeConfig(
  db: Database,
  agents: AgentRegistry,
  threadId: string,
  changes: ConfigChanges,
): Promise<{ status: 'applied' | 'deferred'; firstSeq: number | null }> {
  assertId(threadId, 'The thread id');
  if (changes.contextRef !== undefined) assertId(changes.contextRef, 'The context_ref');
  const { systemPrompt, toolContext, registerTools = [], unregisterTools = [] } = changes;
  assertStorable({ systemPrompt, toolContext }, 'The configuration');
  for (const name of [...registerTools, ...unregisterTools]) {
    if (agents.toolNames.includes(name)) continue;
    throw new LanefoldError('unknown_tool', `There is no tool ${JSON.stringify(name)}.`, {
      hint: `Known tools: ${agents.toolNames.join(', ') || 'none; pass tools: […] to createLanefold'}.`,
      details: { tool: name, known: agents.toolNames },
    });
  }
  const fields = [
    ...(systemPrompt === undefined ? [] : [{ field: 'system_prompt', value: systemPrompt }]),
    ...(toolContext === undefined ? [] : [{ field: 'tool_context', value: toolContext }]),
    ...(registerTools.length + unregisterTools.length === 0
      ? []
      : [{ field: 'tools', value: { register: registerTools, unregister: unregisterTools } }]),
  ];
  if (fields.length === 0) {
    throw new LanefoldError('invalid_input', 'The change of configuration changes nothing.', {
      hint: 'Give systemPrompt, toolContext, registerTools or unregisterTools.',
    });
  }
  const [row] = await db.query<{ result: { status: 'applied' | 'deferred'; first_seq?: number } }>(
    'change_config',
    'select lanefold.change_config($1, $2, $3) as result',
    [threadId, changes.contextRef ?? null, JSON.stringify(fields)],
  );
  return { status: row!.result.status, firstSeq: row!.result.first_seq ?? null };
}
