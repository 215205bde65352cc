import { z } from 'zod';
import { LanefoldError } from '../errors.ts';
import type { JsonObject } from '../context/message.ts';
import { defineTool } from './define-tool.ts';
import type { Tool } from './tool.ts';

/** Instructions a model may load when it needs them, instead of carrying them all in its prompt. */
export interface Skill {
  name: string;
  /** When to load it: all the model sees beforehand. */
  description: string;
  instructions: string;
}

/**
 * The tool `load_skill`. What the model has loaded is marked in the log as durable, so that a compaction keeps it
 * (reference 2.12 and 4.6); results of no other tool are.
 *
 * @throws LanefoldError `invalid_tool` for no skills, or two of one name
 *
 * @example
 * defineAgent({ name: 'support', model: 'fast', tools: [defineSkills([{ name: 'refunds', description, instructions }])] });
 */
export function defineSkills(skills: readonly Skill[]): Tool {
  const byName = new Map(skills.map((skill) => [skill.name, skill]));
  if (byName.size === 0 || byName.size < skills.length) {
    throw new LanefoldError('invalid_tool', 'defineSkills was given no skills, or two of one name.', {
      hint: 'Give each skill a name of its own.',
    });
  }
  const tool = defineTool({
    name: 'load_skill',
    description: [
      'Loads the instructions of a skill. Load a skill before doing what it is about. Skills:',
      ...skills.map((skill) => `- ${skill.name}: ${skill.description}`),
    ].join('\n'),
    input: z.object({ name: z.enum([...byName.keys()]) }),
    execute: ({ name }) => ({ name, instructions: byName.get(name)!.instructions }),
  });
  return { ...tool, resultRefs };
}

function resultRefs(content: string): JsonObject {
  const { name } = JSON.parse(content) as { name: string };
  return { durable: true, kind: 'skill_activation', skill_name: name };
}
