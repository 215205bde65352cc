import { refuseUnknownKeys, type KeysOf } from '../../base/checks/unknown-keys.ts';
import type { JsonObject } from '../context/message.ts';
import { defineTool, type ToolDefinition } from './define-tool.ts';
import type { Tool } from './tool.ts';
import { assertTimeout, waitFor, type WaitTimeout } from './wait.ts';

export interface ClientToolOptions<ARGS>
  extends WaitTimeout, Pick<ToolDefinition<ARGS>, 'name' | 'description' | 'input' | 'strict' | 'needsApproval'> {}

const keys: KeysOf<ClientToolOptions<unknown>> = {
  name: true,
  description: true,
  input: true,
  strict: true,
  needsApproval: true,
  timeoutMs: true,
};

/**
 * A tool that the client runs, such as one that reads the user's position or changes the page. The run is suspended until
 * the client has sent the result: see docs/ag-ui.md.
 *
 * @throws LanefoldError `invalid_tool`, `invalid_input`
 *
 * @example
 * ```ts
 * import { clientTool, defineAgent } from 'lanefold';
 * import { z } from 'zod';
 *
 * const highlight = clientTool({
 *   name: 'highlight',
 *   description: 'Highlights a row of the table that the user sees.',
 *   input: z.object({ row: z.number() }),
 *   timeoutMs: 60_000,
 * });
 * defineAgent({ name: 'analyst', model: 'scripted:demo', tools: [highlight] });
 * ```
 */
export function clientTool<ARGS = JsonObject>(options: ClientToolOptions<ARGS>): Tool {
  refuseUnknownKeys('clientTool', options, keys);
  const { timeoutMs, ...tool } = options;
  assertTimeout(timeoutMs);
  return defineTool<ARGS>({
    ...tool,
    execute: (_, { idempotencyKey }) =>
      waitFor(`${clientEvents}${idempotencyKey}`, timeoutMs === undefined ? {} : { timeoutMs }),
  });
}

const clientEvents = 'client:';

/** Whether a call of a run waits for its client. */
export const waitsForClient = (
  runId: string,
  { event, round, index }: { event: string | null; round: number; index: number },
): boolean => event === `${clientEvents}${runId}:${round}:${index}`;
