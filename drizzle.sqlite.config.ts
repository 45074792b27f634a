// How drizzle-kit generates the migrations of the local store: `npm run db:generate`.
import { defineConfig } from 'drizzle-kit';

export default defineConfig({
  dialect: 'sqlite',
  schema: './src/store/sqlite/schema.ts',
  out: './drizzle/sqlite',
});
