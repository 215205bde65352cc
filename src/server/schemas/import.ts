import { z } from '@hono/zod-openapi';
import { count, Id, jsonObject } from './values.ts';

/** The field that has the source of a format. */
const fieldOf = { lanefold: 'lines', openai: 'items', 'ai-sdk': 'messages' } as const;

export const NewImport = z
  .strictObject({
    format: z.enum(['lanefold', 'openai', 'ai-sdk']),
    lines: z
      .array(z.string())
      .optional()
      .openapi({ description: 'For `lanefold`: the lines of an export, unchanged.' }),
    items: z
      .unknown()
      .optional()
      .openapi({ description: 'For `openai`: items of OpenAI, oldest first, or chat messages.' }),
    messages: z.array(z.unknown()).optional().openapi({ description: 'For `ai-sdk`: `UIMessage`s of the AI SDK.' }),
    id: Id.optional().openapi({
      description: 'Default: a generated id. Importing the same again under the same id changes nothing.',
    }),
    metadata: jsonObject('Your own data, up to 64 KiB; default: that of the export.').optional(),
  })
  .refine(
    ({ format, ...given }) =>
      Object.values(fieldOf).every((field) => (given[field] !== undefined) === (field === fieldOf[format])),
    'Send exactly one source: `lines` for lanefold, `items` for openai, `messages` for ai-sdk.',
  )
  .openapi('NewImport', {
    example: { format: 'openai', items: [{ role: 'user', content: 'Where is my order?' }] },
  });

export const ImportReceipt = z
  .object({
    id: Id,
    rev: count('Number of entries; the last one is of the kind `thread_import`.', 12),
    duplicate: z.boolean().openapi({ description: 'The same was imported before; nothing was written.' }),
    notes: z
      .array(
        z.object({
          outcome: z.enum(['left_out', 'changed', 'repaired']),
          where: z.string().openapi({ description: 'Where it is in the source.' }),
          what: z.string(),
        }),
      )
      .openapi({ description: 'What could not be carried over as it was.' }),
  })
  .openapi('ImportReceipt', { description: 'An imported thread.' });
