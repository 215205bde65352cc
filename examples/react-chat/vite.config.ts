import path from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const server = 'http://127.0.0.1:3000';

export default defineConfig({
  root: path.join(import.meta.dirname, 'page'),
  plugins: [react()],
  // in this checkout, `lanefold` stands for its sources
  resolve: { tsconfigPaths: true },
  build: { outDir: '../dist', emptyOutDir: true },
  // `vite dev` serves the page itself
  server: { proxy: { '/v1': server, '/token': server } },
});
