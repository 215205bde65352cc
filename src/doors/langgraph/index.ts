/**
 * A checkpointer for LangGraph.js on the log of Lanefold.
 *
 * @module langgraph
 */
export { LanefoldSaver, type LanefoldSaverOptions } from './saver.ts';
