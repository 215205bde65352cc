import type { Database } from '../postgres/pool.ts';

/** The limit on a lane's context, as the database functions take it; empty for their default. */
export const contextLimit = ({ settings }: Database): { max_context_bytes?: number } =>
  settings.maxContextBytes === undefined ? {} : { max_context_bytes: settings.maxContextBytes };
