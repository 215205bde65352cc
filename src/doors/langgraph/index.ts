/**
 * A checkpointer for LangGraph.js on the log of Lanefold.
 *
 * @module langgraph
 */
export { LanefoldSaver } from './saver.ts';
export type { LanefoldSaverOptions } from './options.ts';
