import { chain } from '../chain/machine.ts';
import { cotPrompt } from '../chain/cot-prompt.ts';

/** Chain of Thought: the model numbers its steps and ends with a marked conclusion. */
export const cot = chain('cot', cotPrompt);
