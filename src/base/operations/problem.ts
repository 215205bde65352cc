import { z } from 'zod';
import { errorStatus, type ErrorCode } from '../errors.ts';
import { named } from './schemas.ts';

const codes = Object.keys(errorStatus) as [ErrorCode, ...ErrorCode[]];

export const Problem = named(
  'Problem',
  z
    .object({
      type: z.string().describe('`urn:lanefold:<code>`'),
      title: z.string(),
      status: z.int(),
      code: z.enum(codes).describe('Stable identifier, for programs.'),
      detail: z.string().describe('What happened, for humans.'),
      hint: z.string().optional().describe('What to do.'),
      errors: z
        .array(z.object({ path: z.string(), message: z.string() }))
        .optional()
        .describe('The invalid fields.'),
    })
    .meta({
      description: 'An error in the format of RFC 9457.',
      example: {
        type: 'urn:lanefold:thread_busy',
        title: 'Thread busy',
        status: 409,
        code: 'thread_busy',
        detail: 'Thread support-42 is busy with run run_01k7uumgdredk9mg.',
        hint: 'Wait for it to end, or enqueue with busy: "wait".',
      },
    }),
);
