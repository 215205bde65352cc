import { createPostgresBackend, createRedisBackend, withBackend } from 'bullmq';

const open = (backend: 'redis' | 'postgres') =>
  withBackend((backend === 'redis' ? createRedisBackend : createPostgresBackend) as typeof createRedisBackend);

/** BullMQ's classes for each backend. Both have the same ones except for the type of the connection. */
export const bullClasses = { redis: open('redis'), postgres: open('postgres') };
