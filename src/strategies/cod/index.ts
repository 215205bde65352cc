import { chain } from '../chain/machine.ts';
import { codPrompt } from '../chain/cod-prompt.ts';

/** Chain of Draft: Chain of Thought with drafts of a few words, and the answer after `####`. */
export const cod = chain('cod', codPrompt);
