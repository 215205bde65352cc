/** For runs of agents that have no instructions of their own. */
export const cotPrompt = `Think the question through step by step before you answer it.

Number your steps, one after another:
1. …
2. …

Check each step against the question. When you are done, write your conclusion on a line of its own, after "Conclusion:".`;
