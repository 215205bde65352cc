import { z } from 'zod';
import { readContentName } from '../context/large-content.ts';
import { defineTool } from './define-tool.ts';
import type { Tool } from './tool.ts';
import { ToolError } from './tool-error.ts';
import { isLanefoldError } from '../../base/errors.ts';

/** Reads a range of a large text of a thread, in characters. */
export type ReadRange = (
  threadId: string,
  id: string,
  range: { offset: number; length: number },
) => Promise<{ text: string; offset: number; chars: number; nextOffset: number | null }>;

/**
 * The tool `read_content`, with which a model reads the text that a message leaves out. One result has at most a
 * quarter of `limit` characters, the same as the beginning that the message shows.
 */
export function readContentTool(limit: number, read: ReadRange): Tool {
  const most = Math.floor(limit / 4);
  const tool = defineTool({
    name: readContentName,
    description: [
      'Reads a long text of this conversation that a message shows only in part.',
      `Returns at most ${most} characters from offset, and next_offset until the text ends.`,
    ].join(' '),
    input: z.object({
      id: z.string().describe('The id from the message.'),
      offset: z.int().min(0).default(0).describe('In characters.'),
      length: z.int().min(1).max(most).default(most),
    }),
    async execute({ id, offset, length }, { threadId }) {
      try {
        const { text, chars, nextOffset } = await read(threadId, id, { offset, length });
        return { offset, chars, ...(nextOffset === null ? {} : { next_offset: nextOffset }), text };
      } catch (error) {
        if (!isLanefoldError(error, 'content_not_found')) throw error;
        throw new ToolError(error.message, { type: error.code, retryable: false });
      }
    },
  });
  return { ...tool, always: true };
}
