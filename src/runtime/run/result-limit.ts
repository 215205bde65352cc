import type { ReadyAgent } from '../../agents/registry.ts';
import type { Tool } from '../../tools/tool.ts';

/** Bytes that a result of a tool may have; one that the tool marks stays in the log as it is. */
export const resultLimit = (agent: Pick<ReadyAgent, 'maxToolResultBytes' | 'maxInlineBytes'>, tool: Tool): number =>
  tool.resultRefs ? agent.maxInlineBytes : agent.maxToolResultBytes;
