import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/embedded-postgres-setup.ts'],
    // Half of the time is waiting. With one worker on two cores, which is the default, CI took 13 of its 15 minutes.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
