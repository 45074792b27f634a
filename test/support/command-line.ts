// `mwp` inside this process, as the executable would run it, with what it says.
import { vi } from 'vitest';
import { mwp } from '../../src/cli/mwp.ts';

export interface CommandLineResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Restores every mock and stubbed variable of the test, too. */
export async function runMwp(args: string[], environment: Record<string, string> = {}): Promise<CommandLineResult> {
  const output = { stdout: '', stderr: '' };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  for (const stream of ['stdout', 'stderr'] as const) {
    vi.spyOn(process[stream], 'write').mockImplementation((text) => {
      output[stream] += String(text);
      return true;
    });
  }
  try {
    const code = await mwp(args);
    return { ...output, code };
  } finally {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  }
}
