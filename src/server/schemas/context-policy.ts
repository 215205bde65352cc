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
            'Tokens of request and answer together. Default: the window of the model, or no limit if that is unknown; `window` rejects a model whose window is unknown; null: no limit.',
        }),
      reserve_output_tokens: tokens(
        'Left for the answer. Default: 2,000, at most a third of the limit; of a window, `max_output_tokens` of the settings, or else an eighth, at most 32,000.',
      ),
      max_messages: whole(0, 1_000_000)
        .optional()
        .openapi({ description: 'Maximum messages besides the system prompt; 0: no limit.' }),
      keep_last_turns: whole(0, 1_000_000)
        .optional()
        .openapi({ description: 'Newest turns to keep whole, even over budget; default 3.' }),
      summarization: z.enum(['none', 'use_existing', 'request_new']).optional().openapi({
        description:
          '`use_existing` (default) sends the summary of a compaction, `none` leaves it out, `request_new` also makes one: a run over budget compacts its lane.',
      }),
      compact_at: z.number().gt(0).max(1).optional().openapi({
        description:
          'Share of the budget at which a run requests a compaction of its lane when it ends; default: none.',
      }),
      summary_role: z.enum(['system', 'user']).optional(),
      include_kinds: z
        .array(z.enum(['message', 'tool_call', 'tool_result', 'summary']))
        .max(4)
        .optional(),
      system_prompt: z.string().min(1).max(1_000_000).optional(),
      token_estimator: z.string().min(1).max(200).optional().openapi({
        description: '`heuristic`, `calibrated` (default), `exact`, or the name of a custom estimator of the server.',
      }),
      projector: z.string().min(1).max(200).optional(),
    }),
  ])
  .openapi('ContextPolicy', {
    description: 'How the context is cut before a model call: a preset, or fields.',
    example: { max_input_tokens: 16_000, keep_last_turns: 2 },
  });
