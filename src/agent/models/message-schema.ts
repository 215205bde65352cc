import { z } from 'zod';
import { jsonObject, named, typed } from '../../base/operations/schemas.ts';
import { Content } from './content-schema.ts';

/*
 * Messages as requests have them. `acceptMessage` reads those of the library, which may have bytes and URLs as well.
 */

export const ToolCall = named(
  'ToolCall',
  z.strictObject({
    id: z.string().min(1).max(1_000),
    name: z.string().min(1).max(1_000),
    arguments: z.any().meta({ description: 'Any JSON.' }),
    arguments_raw: z.string().optional().meta({ description: 'The provider’s original string, byte for byte.' }),
    provider_metadata: jsonObject('Metadata of the provider.').optional(),
  }),
);

const fields = {
  content: Content,
  tool_calls: z.array(ToolCall).max(1_000).optional(),
  tool_call_id: z.string().max(1_000).optional(),
  name: z.string().max(1_000).optional(),
  thinking: z.string().optional(),
  reasoning_details: z.any().optional(),
  provider_metadata: jsonObject('Metadata of the provider.').optional(),
};

export const Message = typed(
  'MessageInput',
  'agent/models/accept-content.ts',
  named(
    'Message',
    z
      .strictObject({ role: z.enum(['user', 'assistant', 'tool']), ...fields })
      .meta({ example: { role: 'user', content: 'Where is my order?' } }),
  ),
);

export const Role = named('Role', z.enum(['system', 'user', 'assistant', 'tool']));

export const SentMessage = typed(
  'Message',
  'agent/context/message.ts',
  named('SentMessage', z.object({ role: Role, ...fields }).meta({ description: 'A message as a model is sent it.' })),
);
