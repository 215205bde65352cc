import { z } from 'zod';
import { LanefoldError, isLanefoldError } from '../../base/errors.ts';
import type { JsonObject } from '../context/message.ts';
import { defineTool } from './define-tool.ts';
import type { Tool } from './tool.ts';
import { parseJson } from '../../base/common/json.ts';
import { readContentName } from '../context/large-content.ts';
import { ToolError } from './tool-error.ts';

/** Instructions that a model loads on demand, so that they need not all be in its prompt. */
export interface Skill {
  name: string;
  /** When to load the skill; until then, all that the model sees of it. */
  description: string;
  instructions: string;
}

/**
 * The tool `load_skill`. Its results are marked durable in the log, so compactions keep them, unlike results of other
 * tools.
 *
 * @throws LanefoldError `invalid_tool` for an empty list, or two skills with the same name
 *
 * @example
 * ```ts
 * import { defineAgent, defineSkills } from 'lanefold';
 *
 * const skills = defineSkills([
 *   { name: 'refunds', description: 'How to refund an order', instructions: 'Ask for the order number first.' },
 * ]);
 * defineAgent({ name: 'support', model: 'scripted:demo', tools: [skills] });
 * ```
 */
export function defineSkills(skills: readonly Skill[]): Tool {
  const byName = new Map(skills.map((skill) => [skill.name, skill]));
  if (byName.size === 0 || byName.size < skills.length) {
    throw new LanefoldError(
      'invalid_tool',
      'defineSkills needs at least one skill, and every skill needs a unique name.',
      {
        hint: 'Rename one of the skills, or remove the tool.',
      },
    );
  }
  const tool = defineTool({
    name: 'load_skill',
    description: [
      'Loads the instructions of a skill. Load the matching skill before you start a task. Skills:',
      ...skills.map((skill) => `- ${skill.name}: ${skill.description}`),
    ].join('\n'),
    input: z.object({ name: z.enum([...byName.keys()]) }),
    execute: ({ name }) => ({ name, instructions: byName.get(name)!.instructions }),
  });
  return { ...tool, resultRefs };
}

function resultRefs(content: string): JsonObject {
  const { name } = parseJson(content) as { name: string };
  return { durable: true, kind: 'skill_activation', skill_name: name };
}

/** Reads a range of a large text of a thread, in characters. */
type ReadRange = (
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
