import { z } from '@hono/zod-openapi';
import { nextCursor } from './values.ts';

const UiMessage = z
  .object({
    id: z.string().openapi({ description: 'For a question, its request id; for an answer, the id of its run.' }),
    role: z.enum(['user', 'assistant']),
    metadata: z
      .record(z.string(), z.any())
      .optional()
      .openapi({ description: 'For an answer: `thread_id`, `run_id`, `usage`, `termination_reason`, `error`.' }),
    parts: z.array(z.looseObject({ type: z.string() })).openapi({ description: 'As in the AI SDK.' }),
  })
  .openapi('UiMessage', {
    description: 'A `UIMessage` of the AI SDK, with the AI SDK’s field names.',
    example: { id: 'msg-1', role: 'user', parts: [{ type: 'text', text: 'Where is my order?' }] },
  });

export const UiMessagePage = z.object({ data: z.array(UiMessage), next_after: nextCursor }).openapi('UiMessagePage');
