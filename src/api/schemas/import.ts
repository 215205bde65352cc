import { z } from '@hono/zod-openapi';
import { count, Id, jsonObject } from './values.ts';

const shared = {
  id: Id.optional().openapi({
    description: 'Default: a generated id. Importing the same again under the same id changes nothing.',
  }),
  metadata: jsonObject('Your own data, up to 64 KiB; default: that of the export.').optional(),
};

export const NewImport = z
  .discriminatedUnion('format', [
    z.strictObject({
      ...shared,
      format: z.literal('lanefold'),
      lines: z.array(z.string()).openapi({ description: 'The lines of an export, unchanged.' }),
    }),
    z.strictObject({
      ...shared,
      format: z.literal('openai'),
      items: z.unknown().openapi({ description: 'Items of OpenAI, oldest first, or chat messages.' }),
    }),
    z.strictObject({
      ...shared,
      format: z.literal('ai-sdk'),
      messages: z.array(z.unknown()).openapi({ description: '`UIMessage`s of the AI SDK.' }),
    }),
  ])
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
