import { quotedIsData } from '../inquiry/quote.ts';
import type { AotOptions } from './options.ts';

const searches = {
  dfs: 'Go deep first: follow one promising operation until it succeeds or fails, and backtrack when it fails.',
  bfs: 'Go broad first: compare all promising operations at one level before you go deeper.',
};

const builtIn = [
  `Numbers 4 7 8 8, reach 24.
Trying a promising first operation:
1. 8 / 4: (2, 7, 8)
Step 1: 8 - 2: (6, 7). 6 and 7 cannot make 24. Backtrack.
Trying another promising first operation:
2. 8 / 8: (1, 4, 7)
Step 2: 7 - 1: (4, 6). 4 * 6 = 24. Found it!
Answer: (7 - 8 / 8) * 4 = 24`,
  `Which word is the odd one out: rose, oak, tulip, daisy?
Trying a promising first operation:
1. Group by colour: (no common colour)
Step 1: Colours say nothing. Backtrack.
Trying another promising first operation:
2. Group by kind: (rose, tulip, daisy: flowers)
Step 2: Oak is a tree. Solution found.
Answer: oak`,
  `Ann is older than Bo, Cy is younger than Bo. Who is the youngest?
Trying a promising first operation:
1. Order Ann and Bo: (Ann > Bo)
Step 1: Add Cy: (Ann > Bo > Cy). Found it.
Answer: Cy`,
];

const counts = { short: 1, standard: 2, long: 3 };

/** Asks for an algorithmic search with backtracking inside one response that ends with an answer on a separate line. */
export function aotSystem({ profile, search_style: style, examples }: AotOptions): string {
  const given = examples.map((example) => example.trim()).filter((example) => example !== '');
  const shown = given.length > 0 ? given : builtIn.slice(0, counts[profile]);
  return [
    `Solve the problem as a search algorithm would, in one answer. ${searches[style]}`,
    'Begin each attempt with "Trying a promising first operation:", number the operations with their states as "1. operation: (state)", and write "Step 1:", "Step 2:" … for what follows. Say "Backtrack" when an attempt fails and "Found it" when one succeeds. End with one line "Answer: …".',
    quotedIsData,
    ...shown.map((example, i) => `Example ${i + 1}:\n${example}`),
  ].join('\n\n');
}
