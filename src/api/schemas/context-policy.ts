import { z } from '@hono/zod-openapi';
import { whole } from './values.ts';

const tokens = (description: string) => whole(0, 100_000_000).optional().openapi({ description });

export const ContextPolicy = z
  .union([
    z.enum(['window', 'short_context', 'long_context', 'tool_focused']),
    z.strictObject({
      max_input_tokens: z
        .union([whole(1, 100_000_000), z.literal('window')])
        .nullable()
        .optional()
        .openapi({
          description:
            'Tokens of request and answer together. Default: the window of the model, or no limit where that is unknown; `window` refuses such a model; null: no limit.',
        }),
      reserve_output_tokens: tokens('Left for the answer; default 2,000, of a window an eighth.'),
      max_messages: whole(0, 1_000_000)
        .optional()
        .openapi({ description: 'Maximum messages besides the system prompt; 0: no limit.' }),
      keep_last_turns: whole(0, 1_000_000)
        .optional()
        .openapi({ description: 'Newest turns to keep whole, even over budget; default 3.' }),
      summarization: z.enum(['none', 'use_existing', 'request_new']).optional().openapi({
        description:
          'What a compaction left is sent (`use_existing`, default) or not; `request_new`: a run over budget compacts.',
      }),
      compact_at: z.number().gt(0).max(1).optional().openapi({
        description: 'Share of the budget from which on the end of a run asks for a compaction of its lane.',
      }),
      summary_role: z.enum(['system', 'user']).optional(),
      include_kinds: z
        .array(z.enum(['message', 'tool_call', 'tool_result', 'summary']))
        .max(4)
        .optional(),
      system_prompt: z.string().min(1).max(1_000_000).optional(),
      token_estimator: z.string().min(1).max(200).optional().openapi({
        description: '`heuristic`, `calibrated` (default), `exact`, or the name of one of the server’s own.',
      }),
      projector: z.string().min(1).max(200).optional(),
    }),
  ])
  .openapi('ContextPolicy', {
    description: 'How the context is cut before a model call: a preset or fields.',
    example: { max_input_tokens: 16_000, keep_last_turns: 2 },
  });
