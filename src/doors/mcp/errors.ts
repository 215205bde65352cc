import { ProtocolError, ProtocolErrorCode, type CallToolResult } from '@modelcontextprotocol/server';
import { isLanefoldError } from '../../base/errors.ts';
import type { RunName } from './api.ts';

/** What a model reads when its call fails. */
export interface ToolFailure {
  code: string;
  message: string;
  hint?: string | undefined;
  thread_id?: string;
  run_id?: string;
}

/** An error of a tool: text, because the output schema of a tool describes its successes. */
export const toolError = (failure: ToolFailure): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify({ error: failure }) }],
  isError: true,
});

/**
 * Our errors as errors of the tool, which the model can react to; everything else as an error of the protocol.
 *
 * @param run the run that goes on in spite of the error: without its name, the client could not ask for it
 */
export function asToolError(error: unknown, run?: RunName): CallToolResult {
  if (!isLanefoldError(error)) throw error;
  const { code, message, hint } = error;
  const kept = run && code === 'server_busy' ? 'The run is stored. Ask for it later with lanefold_run_result.' : hint;
  return toolError({ code, message, hint: kept, ...run });
}

/** Our errors as errors of the protocol, with `code` and `hint` in their data. */
export function asProtocolError(error: unknown): never {
  if (!isLanefoldError(error)) throw error;
  const { code, message, hint, status } = error;
  const rpc = status >= 500 ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams;
  throw new ProtocolError(rpc, message, { code, ...(hint === undefined ? {} : { hint }) });
}

export const invalidParams = (message: string): ProtocolError =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, message);
