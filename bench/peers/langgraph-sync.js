import { openWith } from './langgraph.js';

/** Every checkpoint is stored before the next step starts, as Lanefold and DBOS do. */
export const open = (options) => openWith(options, 'sync');
