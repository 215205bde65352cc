/** How the search of the site ranks sections. A test searches with the same options. */
export const searchOptions = {
  fuzzy: 0.2,
  prefix: true,
  boost: { title: 4, text: 2, titles: 1 },
  // VitePress sends these functions to the browser as their sources: they use nothing from outside

  /** Words that say nothing of what is searched. */
  processTerm: (word: string): string | null =>
    /^(a|an|and|are|can|do|does|how|i|in|is|it|my|of|s|see|the|to|was|what|why)$/i.test(word)
      ? null
      : word.toLowerCase(),
  /** Guides first, and the API of the package after them. */
  boostDocument: (address: string): number => {
    if (/^\/?(start|build|run)\//.test(address)) return 1.3;
    return /^\/?(api|repository)\//.test(address) ? 0.6 : 1;
  },
};
