import { defineConfig } from 'vite';

export default defineConfig({
  // Relative addresses: the page works wherever the Go handler is mounted.
  base: './',
  // GraphiQL's workers import further chunks, which the default 'iife' can't.
  worker: { format: 'es' },
  build: {
    // The notices that the bundled packages' licences ask for.
    license: { fileName: 'licenses.md' },
    // Monaco is one large chunk by nature, and "use client" means nothing here.
    chunkSizeWarningLimit: 5000,
    rolldownOptions: { checks: { moduleLevelDirective: false } },
  },
});
