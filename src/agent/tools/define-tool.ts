import type { JSONSchema7 } from '@ai-sdk/provider';
import type { FlexibleSchema } from '@ai-sdk/provider-utils';
import type { JsonObject } from '../context/message.ts';
import { refuseUnknownKeys, type KeysOf } from '../../base/checks/unknown-keys.ts';
import { checkTool } from './check-tool.ts';
import { readSchema } from './schema.ts';
import type { NeedsApproval, ToolReplay, Tool, ToolCallContext, ToolLimits } from './tool.ts';

export interface ToolDefinition<
  ARGS,
  STATE extends object = JsonObject,
  CONTEXT extends object = JsonObject,
> extends ToolLimits {
  /** 1 to 64 characters of `[A-Za-z0-9_-]`. */
  name: string;
  description?: string;
  /**
   * Zod, Standard Schema, the AI SDK's `jsonSchema(...)`, or a JSON Schema, which describes the input without
   * validating it.
   */
  input: FlexibleSchema<ARGS> | JSONSchema7;
  execute: (args: NoInfer<ARGS>, ctx: ToolCallContext<STATE, CONTEXT>) => unknown;
  /** Default `safe`. */
  replay?: ToolReplay<NoInfer<ARGS>>;
  /** Whether the run waits until a human approves or denies the call, without occupying a worker; default false. */
  needsApproval?: NeedsApproval<NoInfer<ARGS>>;
  strict?: boolean;
}

const toolKeys: KeysOf<ToolDefinition<unknown>> = {
  name: true,
  description: true,
  input: true,
  execute: true,
  replay: true,
  needsApproval: true,
  strict: true,
  timeoutMs: true,
  maxRetries: true,
  retryBackoffMs: true,
  maxResultBytes: true,
};

/**
 * Defines a tool; the type of `args` follows from `input`. Annotate the second argument to declare the type of the
 * thread's state: `execute: (args, { state }: ToolCallContext<{ cart?: string[] }>) => …`.
 *
 * @throws LanefoldError `invalid_tool` for an invalid name, schema or limit
 *
 * @example
 * ```ts
 * import { defineAgent, defineTool } from 'lanefold';
 * import { z } from 'zod';
 *
 * const weather = defineTool({
 *   name: 'weather',
 *   description: 'Current weather of a city',
 *   input: z.object({ city: z.string() }),
 *   execute: ({ city }, { signal }) => (signal.aborted ? null : { city, celsius: 21 }),
 * });
 * defineAgent({ name: 'guide', model: 'scripted:demo', tools: [weather] });
 * ```
 */
export function defineTool<ARGS = JsonObject, STATE extends object = JsonObject, CONTEXT extends object = JsonObject>(
  definition: ToolDefinition<ARGS, STATE, CONTEXT>,
): Tool {
  refuseUnknownKeys(`Tool ${JSON.stringify(definition.name)}`, definition, toolKeys, 'invalid_tool');
  const { input, ...rest } = definition;
  const schema = readSchema(definition.name, input);
  // The schema validates the arguments before execute and verify get them, so the runtime need not know their type.
  return checkTool({
    replay: 'safe',
    ...rest,
    inputSchema: schema.jsonSchema,
    validate: schema.validate,
  } as unknown as Tool);
}
