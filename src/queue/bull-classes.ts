import { createPostgresBackend, createRedisBackend, withBackend } from 'bullmq';

/** BullMQ's classes for a backend. Both backends have the same ones except for the type of the connection. */
export const bullClasses = (backend: 'redis' | 'postgres') =>
  withBackend((backend === 'redis' ? createRedisBackend : createPostgresBackend) as typeof createRedisBackend);
