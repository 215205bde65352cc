import { chain } from '../cot/chain.ts';
import { codPrompt } from './prompt.ts';

/** Chain of Draft: Chain of Thought with drafts of a few words, and the answer after `####`. */
export const cod = chain('cod', codPrompt);
