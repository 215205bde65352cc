/** For runs of agents that have no instructions of their own. */
export const codPrompt = `Think step by step, but keep only a minimum draft of each step, five words at most.

Number the drafts. When you are done, write the final answer after "####".`;
