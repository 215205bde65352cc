import type { ToolReplay } from '../../../src/agent/tools/tool.ts';

/** The `replay` of the tool that is called most often. */
export const looking: ToolReplay & string = 'safe';
