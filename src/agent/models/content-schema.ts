import { z } from 'zod';
import { isObject } from '../../base/common/json.ts';
import { LanefoldError } from '../../base/errors.ts';
import { named, ofRequests, typed } from '../../base/operations/schemas.ts';
import { acceptContent } from './accept-content.ts';

const Part = named(
  'ContentPart',
  z.custom<Exclude<Parameters<typeof acceptContent>[0], string>[number]>(isObject, 'Must be an object.').meta({
    type: 'object',
    additionalProperties: true,
    description:
      '`{type: "text", text}` or `{type: "file", media_type, data | url}`; `data` is base64. ' +
      'OpenAI’s `image_url` and `file` parts and the AI SDK’s `image` and `file` parts are accepted and stored as `file`.',
    example: { type: 'text', text: 'Where is my order?' },
  }),
);

/** Text or parts. Rejects parts that no model accepts, because they would fail every later run of the lane. */
const schema = () =>
  named(
    'Content',
    z
      .union([z.string(), z.array(Part).max(1_000)])
      .superRefine((content, context) => {
        if (typeof content === 'string') return;
        try {
          acceptContent(content);
        } catch (error) {
          const message =
            error instanceof LanefoldError
              ? `${error.message} ${error.hint ?? ''}`
              : 'Must be an array of content parts.';
          context.addIssue({ code: 'custom', message });
        }
      })
      .meta({ example: 'Where is my order?' }),
  );

/** The content of a message as requests give it. */
export const Content = ofRequests(typed('ContentInput', 'agent/models/accept-content.ts', schema()));

/** The content of a message as the log has it. */
export const StoredContent = typed('MessageContent', 'agent/context/message.ts', schema());
