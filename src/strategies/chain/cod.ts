import { chain } from './machine.ts';

const prompt = `Think step by step, but keep only a minimum draft of each step, five words at most.

Number the drafts. When you are done, write the final answer after "####".`;

/** Chain of Draft: like Chain of Thought, with steps of a few words and the answer after `####`. */
export const cod = chain('cod', prompt);
