import { createPostgresBackend, createRedisBackend, withBackend } from 'bullmq';

const open = (backend: 'redis' | 'postgres') =>
  withBackend((backend === 'redis' ? createRedisBackend : createPostgresBackend) as typeof createRedisBackend);

/** BullMQ's classes for each backend. Both have the same ones except for the type of the connection. */
export const bullClasses = { redis: open('redis'), postgres: open('postgres') };

/**
 * Options of a queue. On PostgreSQL, BullMQ drops no events: it would search for them from the first one on, past all that
 * it has dropped before. Workers trim them: see `eventTrimmer`.
 */
export const keepsEvents = (backend: 'redis' | 'postgres') =>
  backend === 'postgres' ? { streams: { events: { maxLen: 0 } } } : {};
