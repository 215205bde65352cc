import { chain } from './chain.ts';
import { cotPrompt } from './prompt.ts';

/** Chain of Thought: the model numbers its steps and ends with a marked conclusion. */
export const cot = chain('cot', cotPrompt);
