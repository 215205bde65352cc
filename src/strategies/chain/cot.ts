import { chain } from './machine.ts';

const prompt = `Think the question through step by step before you answer it.

Number your steps, one after another:
1. …
2. …

Check each step against the question. When you are done, write your conclusion on a line of its own, after "Conclusion:".`;

/** Chain of Thought: the model numbers its steps and ends with a marked conclusion. */
export const cot = chain('cot', prompt);
