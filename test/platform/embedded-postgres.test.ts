import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';

const MODULE = new URL('../../src/platform/embedded-postgres.ts', import.meta.url).href;

/** In a process of its own: what is tested is how that process ends. */
function run(script: string): Promise<number | null> {
  const source = `const { startEmbeddedPostgres } = await import(${JSON.stringify(MODULE)});\n${script}`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', source], { stdio: 'ignore' });
  return new Promise((resolve) => child.once('close', resolve));
}

describe('the embedded PostgreSQL', () => {
  it('leaves the exit code of its process alone', async () => {
    expect(await run('await (await startEmbeddedPostgres()).stop(); process.exitCode = 3;')).toBe(3);
  });

  it('is stopped at once when its server is gone already', async () => {
    const script = `
      const server = await startEmbeddedPostgres();
      const sql = (await import('postgres')).default(server.url, { max: 1 });
      const [row] = await sql\`SELECT split_part(pg_read_file('postmaster.pid'), chr(10), 1)::int AS pid\`;
      await sql.end();
      process.kill(row.pid, 'SIGINT');
      const lives = () => { try { return process.kill(row.pid, 0); } catch { return false; } };
      while (lives()) await new Promise((resolve) => setTimeout(resolve, 10));
      await server.stop();
      process.exitCode = 4;`;
    expect(await run(script)).toBe(4);
  });

  it('begins again on what a killed server left, and not beside one that lives', async () => {
    const script = `
      const server = await startEmbeddedPostgres({ durable: true });
      const ask = async (text) => {
        const sql = (await import('postgres')).default(server.url, { max: 1 });
        try { return await sql.unsafe(text); } finally { await sql.end(); }
      };
      await ask('CREATE TABLE kept (n int)');
      await ask('INSERT INTO kept VALUES (7)');
      const refused = await server.startAgain().then(() => false, () => true);
      process.kill(server.pid(), 'SIGKILL');
      for (;;) try { process.kill(server.pid(), 0); await new Promise((resolve) => setTimeout(resolve, 10)); } catch { break; }
      await server.startAgain();
      const [row] = await ask('SELECT n FROM kept');
      await server.stop();
      process.exitCode = refused && row.n === 7 ? 5 : 6;`;
    expect(await run(script)).toBe(5);
  });
});
