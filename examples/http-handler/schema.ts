import { bigint, integer, pgTable, text } from 'drizzle-orm/pg-core';

/** A table of the application, in the same database as Lanefold's. */
export const orders = pgTable('example_orders', {
  id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  item: text('item').notNull(),
  quantity: integer('quantity').notNull(),
  threadId: text('thread_id').notNull(),
  runId: text('run_id').notNull(),
});

/** A real application would use a migration. */
export const createOrders = `create table if not exists example_orders (
  id bigint generated always as identity primary key, item text not null, quantity integer not null,
  thread_id text not null, run_id text not null)`;
