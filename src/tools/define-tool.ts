import type { JSONSchema7 } from '@ai-sdk/provider';
import type { FlexibleSchema } from '@ai-sdk/provider-utils';
import type { JsonObject } from '../context/message.ts';
import { checkTool } from './check-tool.ts';
import { readSchema } from './schema.ts';
import type { NeedsApproval, Replay, Tool, ToolCallContext, ToolLimits } from './tool.ts';

export interface ToolDefinition<ARGS> extends ToolLimits {
  /** 1 to 64 characters of `[A-Za-z0-9_-]`. */
  name: string;
  description?: string;
  /** A zod or Standard Schema, `jsonSchema(...)` of the AI SDK, or a JSON Schema, which describes but checks nothing. */
  input: FlexibleSchema<ARGS> | JSONSchema7;
  execute: (args: NoInfer<ARGS>, ctx: ToolCallContext) => unknown;
  /** Default `safe`. */
  replay?: Replay<NoInfer<ARGS>>;
  /** The run waits, without a worker, until a person approves the call or denies it; default false. */
  needsApproval?: NeedsApproval<NoInfer<ARGS>>;
  strict?: boolean;
}

/**
 * Defines a tool; the type of `args` follows from `input`.
 *
 * Errors: `invalid_tool` for a bad name, schema or limit.
 *
 * @example
 * const weather = defineTool({
 *   name: 'weather',
 *   description: 'Current weather of a city',
 *   input: z.object({ city: z.string() }),
 *   execute: ({ city }, { signal }) => fetchWeather(city, signal),
 * });
 */
export function defineTool<ARGS = JsonObject>(definition: ToolDefinition<ARGS>): Tool {
  const { input, ...rest } = definition;
  const schema = readSchema(definition.name, input);
  // The schema has checked the arguments by the time execute and verify see them, so the runtime need not know their type.
  return checkTool({ replay: 'safe', ...rest, inputSchema: schema.jsonSchema, validate: schema.validate } as Tool);
}
