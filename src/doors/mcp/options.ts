import type { AgentDefinition } from '../../agent/definition/definition.ts';
import { refuseUnknownKeys, type KeysOf } from '../../base/checks/unknown-keys.ts';
import { assertWhole } from '../../base/checks/whole-number.ts';
import { LanefoldError } from '../../base/errors.ts';
import type { Library } from '../../features/library/library.ts';

/** What an MCP server offers. */
export interface McpOptions {
  /** Names of the agents that become tools; `lanefold_start_run` starts no others. Default: every agent of this process. */
  agents?: readonly string[];
  /**
   * How long a tool call waits for its run, in ms; then it answers that the run goes on, and how to ask for it. Default
   * 25,000, because many clients give up after 30 seconds; at most an hour.
   */
  waitMs?: number;
}

/** Options of a server whose caller is the same for all its requests. */
export interface McpServerOptions extends McpOptions {
  /** The API key or token that the server acts with. Default: none, and it may do everything. */
  apiKey?: string;
}

/** Options of a handler in your own HTTP server. */
export interface McpHandlerOptions extends McpOptions {
  /**
   * `false`: without `LANEFOLD_API_KEY`, requests whose `Host` is loopback need no key, and may do everything, in every
   * tenant. Any client can send `Host: localhost`, so use it only in a server that listens on loopback alone, without a
   * proxy in front. Default true.
   */
  requireKey?: boolean;
}

export const mcpKeys: KeysOf<McpOptions> = { agents: true, waitMs: true };
export const serverKeys: KeysOf<McpServerOptions> = { ...mcpKeys, apiKey: true };
export const handlerKeys: KeysOf<McpHandlerOptions> = { ...mcpKeys, requireKey: true };
const defaultWaitMs = 25_000;
const mostWaitMs = 3_600_000;

export interface CheckedOptions {
  agents: readonly string[] | undefined;
  waitMs: number;
}

/** @throws LanefoldError `invalid_input`, `unknown_agent` */
export function checkOptions(
  caller: string,
  options: McpOptions,
  optionKeys: Record<string, true>,
  { agents: known }: Pick<Library<AgentDefinition>, 'agents'>,
): CheckedOptions {
  refuseUnknownKeys(caller, options, optionKeys);
  const { agents, waitMs = defaultWaitMs } = options;
  assertWhole(waitMs, 'waitMs', {
    minimum: 0,
    maximum: mostWaitMs,
    hint: 'Leave it out for 25,000, which is shorter than most clients wait.',
  });
  const names = known.list().map(({ name }) => name);
  const stranger = agents?.find((name) => !names.includes(name));
  if (stranger !== undefined) {
    throw new LanefoldError('unknown_agent', `This process knows no agent ${JSON.stringify(stranger)}.`, {
      hint: `Pass some of ${names.join(', ') || 'the agents of createLanefold'}, or leave agents out for all.`,
    });
  }
  return { agents, waitMs };
}
