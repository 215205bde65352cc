import type { Database } from '../postgres/pool.ts';

/** The limit on the context of a lane, as the functions of the database take it; nothing for their default. */
export const contextLimit = ({ settings }: Database): { max_context_bytes?: number } =>
  settings.maxContextBytes === undefined ? {} : { max_context_bytes: settings.maxContextBytes };
