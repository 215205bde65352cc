import { defineConfig } from 'drizzle-kit';

export default defineConfig({
  dialect: 'postgresql',
  schema: './db/schema/index.ts',
  out: './db/migrations',
  schemaFilter: ['lanefold'],
  migrations: { schema: 'drizzle', table: '__lanefold_migrations' },
  strict: true,
});
