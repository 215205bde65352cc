import type { JSONSchema7 } from '@ai-sdk/provider';

/** The end of the system prompt of every model call of a run with a contract. Sent, never stored in the log. */
export function outputInstructions(schema: JSONSchema7, description: string | undefined): string {
  return [
    'Give your final answer as a single JSON object and nothing else: no code fences, no words before or after it.',
    ...(description ? [`The object is: ${description}`] : []),
    'It must fit this JSON Schema:',
    JSON.stringify(schema, null, 2),
  ].join('\n');
}
